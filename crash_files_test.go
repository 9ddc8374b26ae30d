package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
)

// upload sends a push with files, as a form does or in base64.
func (c *crowd) upload(p *crashPush, rng *rand.Rand) error {
	p.owned = true // nobody else may
	for range 1 + rng.IntN(3) {
		p.files = append(p.files, crashFile{seed: rng.Uint64(), size: fileLength(rng)})
	}
	c.ledger.sendCreate(p)
	fields := map[string]string{
		"payload": p.payload, "name": p.name,
		"expire_after_views": strconv.Itoa(p.limit), "deletable_by_viewer": strconv.FormatBool(p.deletable),
	}
	files := make([]io.Reader, len(p.files))
	for i, f := range p.files {
		files[i] = content(f.seed, f.size)
	}
	as := asMultipart
	if rng.IntN(2) == 0 {
		as = asBase64
	}
	var out crashRecord
	err := streamed(as, fields, files, func(contentType string, body io.Reader) error {
		return c.post(http.MethodPost, apiPushes, c.bearer, contentType, body, http.StatusCreated, &out)
	})
	if err != nil {
		return err
	}
	c.ledger.keep(p, out)
	return nil
}

// fileLength is how long a file is: mostly a chunk or less, sometimes of several
// steps of an upload.
func fileLength(rng *rand.Rand) int64 {
	switch rng.IntN(8) {
	case 0:
		return rng.Int64N(900_000)
	case 1, 2, 3:
		return rng.Int64N(140_000)
	default:
		return rng.Int64N(5_000)
	}
}

// fetch asks for a part of some file, or for what a HEAD tells of it, and returns
// of which push. Where there is none it previews p.
func (c *crowd) fetch(p *crashPush, rng *rand.Rand) (*crashPush, error) {
	claim := c.ledger.pickClaim(rng)
	if claim.push == nil {
		return p, c.preview(p)
	}
	if rng.IntN(8) == 0 {
		return claim.push, c.measure(claim)
	}
	return claim.push, c.download(claim)
}

// fetchAll asks for all that the grants of a push are good for, while nobody else
// uses it.
func (c *crowd) fetchAll(p *crashPush) error {
	claims := c.ledger.claims(p)
	for _, claim := range claims {
		if err := c.download(claim); err != nil {
			return err
		}
	}
	if len(claims) > 0 {
		c.ledger.settleFiles(p)
	}
	return nil
}

// ask sends a request for the file of a claim.
func (c *crowd) ask(method string, claim claim) (*http.Response, glimpse, error) {
	req, err := http.NewRequest(method, c.url+claim.grant.paths[claim.file], nil)
	if err != nil {
		return nil, glimpse{}, err
	}
	if !claim.whole {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", claim.from, claim.from+int64(len(claim.part))-1))
	}
	if claim.tag != "" {
		req.Header.Set("If-Range", claim.tag)
	}
	before := c.ledger.send(claim.push)
	res, err := c.http.Do(req)
	if err != nil {
		return nil, before, c.cut(err)
	}
	return res, before, nil
}

// measure asks how long a file is.
func (c *crowd) measure(claim claim) error {
	claim.whole = true
	res, before, err := c.ask(http.MethodHead, claim)
	if err != nil {
		return err
	}
	if err := res.Body.Close(); err != nil {
		return c.cut(err)
	}
	size := claim.push.files[claim.file].size
	switch {
	case res.StatusCode == http.StatusNotFound:
		return c.ledger.gotNoFile(claim)
	case res.StatusCode != http.StatusOK || res.ContentLength != size:
		return fmt.Errorf("P7: a HEAD: status %d, %d bytes of %d", res.StatusCode, res.ContentLength, size)
	case before.released:
		return errors.New("P5: a file is there after it was deleted")
	}
	return nil
}

// download asks for the part of a claim and has the ledger judge what comes. Only
// a kill and a delete may cut it off.
func (c *crowd) download(claim claim) error {
	res, before, err := c.ask(http.MethodGet, claim)
	if err != nil {
		return err
	}
	got, cutErr := io.ReadAll(res.Body)
	cutErr = errors.Join(cutErr, res.Body.Close())
	want := http.StatusPartialContent
	if claim.whole {
		want = http.StatusOK
	}
	switch {
	case res.StatusCode == http.StatusNotFound && cutErr == nil:
		return c.ledger.gotNoFile(claim)
	case res.StatusCode == http.StatusNotFound:
		return c.cut(cutErr)
	case res.StatusCode != want:
		return fmt.Errorf("P7: a file from %d on: status %d", claim.from, res.StatusCode)
	}
	err = c.ledger.gotFile(claim, before, res.Header.Get("ETag"), got, cutErr == nil)
	if err != nil || cutErr == nil || c.ledger.mayEnd(claim.push) {
		return err
	}
	return c.cut(cutErr)
}
