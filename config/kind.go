package config

import (
	"errors"
	"io/fs"
	"math"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pushbox/internal/secret"
)

// A kind is a type of setting: how it is read from text and written in YAML.
type kind struct {
	what  string   // for "must be …"
	tags  []string // the YAML tags of a scalar that may be one; none: it is a list
	parse func(text string) (any, error)
	print func(value any) string
}

func newKind[T any](what string, parse func(string) (T, error), print func(T) string, tags ...string) kind {
	return kind{
		what: what, tags: tags,
		parse: func(text string) (any, error) { return parse(text) },
		print: func(value any) string { return print(value.(T)) },
	}
}

// kindOf returns the kind of a field of Config. It panics on a type that no
// setting has had so far.
func kindOf(f reflect.StructField) kind {
	switch form, words := f.Tag.Get("form"), f.Tag.Get("oneof"); {
	case words != "":
		all := strings.Fields(words)
		return newKind(oneOf(all), wordParser(all), func(s string) string { return s }, tagText)
	case form == "door":
		return newKind(whatDoor, parseDoor, strconv.Quote, tagText)
	case form == "second door":
		return newKind(whatDoor, parseSecondDoor, strconv.Quote, tagText)
	case form == "base path":
		return newKind("a path such as /push", parseBasePath, strconv.Quote, tagText)
	case form == "hosts":
		return newKind("a list of hosts", parseHosts, printHosts)
	case form == "optional address":
		return newKind("an address and a port, such as :80", optional(parseAddress), strconv.Quote, tagText)
	case form == "path":
		return newKind("a path", parsePath, strconv.Quote, tagText)
	case form == "url":
		return newKind("a URL such as https://push.example.com", parseBaseURL, strconv.Quote, tagText)
	case form == "directory":
		return newKind("a URL such as https://ca.example.com/acme/acme/directory", parseDirectoryURL, strconv.Quote, tagText)
	case form == "email":
		return newKind("an address such as ann@example.com", optional(parseEmail), strconv.Quote, tagText)
	case form == "domains":
		return newKind("a list of domains", parseDomains, printDomains)
	case form == "regexp":
		return newKind("a regular expression such as .+@example\\.com", parseRegexp, strconv.Quote, tagText)
	case form == "recipients":
		return newKind("a list of age recipients", parseRecipients, printRecipients)
	}
	switch f.Type {
	case reflect.TypeFor[string]():
		return newKind("text", parseText, strconv.Quote, tagText)
	case reflect.TypeFor[bool]():
		return newKind("true or false", parseBool, strconv.FormatBool, tagBool)
	case reflect.TypeFor[fs.FileMode]():
		return newKind("permissions such as 0660", parseMode, printMode, tagText, tagInt)
	case reflect.TypeFor[int]():
		return newKind("a whole number", parseInt, strconv.Itoa, tagInt)
	case reflect.TypeFor[Size]():
		return newKind("a size such as 400MiB, 10MB or 1000", parseSize, Size.String, tagText, tagInt)
	case reflect.TypeFor[time.Duration]():
		// A number with a fraction gets as far as the complaint about its unit.
		return newKind("a duration such as 10m, 36h or 90d", parseDuration, formatDuration, tagText, tagInt, tagFloat)
	case reflect.TypeFor[secret.Text]():
		return newKind("text", parseSecret, printSecret, tagText)
	case reflect.TypeFor[[]netip.Prefix]():
		return newKind("a list of addresses and networks", parsePrefixes, printPrefixes)
	case reflect.TypeFor[HookEvents]():
		return newKind("a list of events", parseHookEvents, printHookEvents)
	case reflect.TypeFor[HookHosts]():
		return newKind("a list of hosts and networks", parseHookHosts, printHookHosts)
	default:
		panic("config: no setting can be a " + f.Type.String())
	}
}

func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func wordParser(words []string) func(string) (string, error) {
	return func(text string) (string, error) {
		for _, w := range words {
			if text == w {
				return w, nil
			}
		}
		return "", errors.New("must be " + oneOf(words))
	}
}

func parseBool(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	default:
		return false, errors.New("must be true or false")
	}
}

func parseInt(text string) (int, error) {
	n, err := parseWhole(strings.TrimPrefix(text, "-"))
	switch {
	case errors.Is(err, strconv.ErrRange) || n > math.MaxInt32: // an int on any machine
		return 0, errors.New("is too large")
	case err != nil:
		return 0, errors.New("must be a whole number")
	}
	if strings.HasPrefix(text, "-") {
		n = -n
	}
	return int(n), nil
}

func parseText(text string) (string, error) {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return "", errors.New("must not contain control characters or bytes that are not UTF-8")
	}
	return text, nil
}

// parseSecret returns the zero Text for no text, so that "given as nothing" and
// "not given" are the same.
func parseSecret(text string) (secret.Text, error) {
	if text == "" {
		return secret.Text{}, nil
	}
	return secret.New(text), nil
}

// printSecret writes what Load refuses, a list, so that a printed configuration
// cannot pass for one that has its key.
func printSecret(s secret.Text) string {
	if s.IsZero() {
		return `""`
	}
	return s.String()
}
