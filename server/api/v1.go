package api

import (
	"errors"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/server/intake"
	"pushbox/store"
	"pushbox/store/record"
)

// API version 1 is a second spelling of version 2, for the many clients of Password
// Pusher that are older than version 2. Requests and answers are translated here;
// everything between is the code of version 2.

// apiVersion1 is the version of Password Pusher's older API that this is.
const apiVersion1 = "1.5"

// The spellings of new pushes in version 1. Each path has its own.
var (
	passwordV1 = intake.Spelling{Wrapper: "password", V1: true, Convert: convertV1}
	filesV1    = intake.Spelling{Wrapper: "file_push", V1: true, Kind: record.File, Convert: convertV1}
	urlV1      = intake.Spelling{Wrapper: "url", V1: true, Kind: record.URL, Convert: convertV1}
)

// createV1 returns an action that creates a push in a spelling of version 1.
func (s *Service) createV1(how intake.Spelling) action.Func {
	return inV1(func(r *action.Request) (action.Reply, error) {
		rep, err := s.create(r, how)
		if errors.Is(err, intake.ErrNoPush) {
			err = noPushV1(how)
		}
		return rep, err
	})
}

// noPushV1 is intake.ErrNoPush with the message of version 1.
func noPushV1(how intake.Spelling) error {
	return action.BadRequest("param is missing or the value is empty or invalid: " + how.Wrapper)
}

// convertV1 removes the fields that version 1 replaces with the default, without an
// error.
func convertV1(c *intake.Draft) error {
	f := c.Fields
	maps.DeleteFunc(f, func(_ string, v body.Value) bool { return v.Shape == body.Null })
	if c.Kind != 0 {
		f[store.FieldKind] = intake.TextValue(c.Kind.String())
	}
	in := intake.FieldReader{Fields: f, Files: c.Files != nil}
	terms := c.Policy.Terms[in.Kind()]
	restrict(f, store.FieldDays, terms.Days)
	restrict(f, store.FieldViews, terms.Views)
	return nil
}

// restrict cuts off the fraction of a number, and deletes the field if the result is not a whole
// number within the bounds.
func restrict(f intake.Fields, name string, bounds store.Range) {
	whole, fraction, _ := strings.Cut(strings.TrimSpace(f.Text(name)), ".")
	n, err := strconv.Atoi(whole)
	if err != nil || n < bounds.Min || n > bounds.Max || strings.Trim(fraction, "0123456789") != "" {
		delete(f, name)
		return
	}
	f[name] = intake.TextValue(strconv.Itoa(n))
}

// inV1 returns an action of version 2 whose answers are those of version 1.
func inV1(act action.Func) action.Func {
	return func(r *action.Request) (action.Reply, error) {
		rep, err := act(r)
		if errors.Is(err, record.ErrDenied) && r.Method == http.MethodDelete {
			return action.Reply{}, action.ErrNotDeletable
		}
		rep.Body = bodyV1(rep.Body, r.Base)
		return rep, err
	}
}

// auditV1JSON is the audit log in version 1.
type auditV1JSON struct {
	Views []entryJSON `json:"views"`
}

// bodyV1 returns the body of an answer as version 1 spells it.
func bodyV1(of any, base string) any {
	switch b := of.(type) {
	case pushJSON:
		b.inV1(base)
		return b
	case createdJSON:
		b.inV1(base)
		return b
	case viewerJSON:
		b.inV1(base)
		return b
	case []senderJSON:
		for i := range b {
			b[i].inV1(base)
		}
		return b
	case auditJSON:
		return auditV1JSON{b.Logs}
	default:
		return of
	}
}

// inV1 changes the address that retrieves the push into that of version 1. Clients make
// links for people out of it: without .json it must be the page of the push.
func (j *pushJSON) inV1(base string) { j.JSONURL = base + "/p/" + j.URLToken + action.JSONSuffix }

// versionV1JSON is the version in the form of version 1.
type versionV1JSON struct {
	ApplicationVersion string `json:"application_version"`
	APIVersion         string `json:"api_version"`
	Edition            string `json:"edition"`
}

func (s *Service) versionV1(*action.Request) (action.Reply, error) {
	return action.OK(versionV1JSON{ApplicationVersion: s.Release, APIVersion: apiVersion1, Edition: s.Config.Compat.Edition}), nil
}
