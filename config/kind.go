package config

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pushbox/internal/secret"
)

// A kind is a type of setting: how it is read from text and written in YAML.
type kind struct {
	what   string   // for "must be …"
	tags   []string // the YAML tags of a scalar that may be one; none: it is a list
	nested bool     // it is a list of mappings, and its text is YAML
	parse  func(text string) (any, error)
	print  func(value any) string
}

func newKind[T any](what string, parse func(string) (T, error), print func(T) string, tags ...string) kind {
	return kind{
		what: what, tags: tags,
		parse: func(text string) (any, error) { return parse(text) },
		print: func(value any) string { return print(value.(T)) },
	}
}

// kindOf returns the kind of a field of Config. It panics on a type that is not
// among the types of settings.
func kindOf(f reflect.StructField) kind {
	switch form, words := f.Tag.Get("form"), f.Tag.Get("oneof"); {
	case words != "":
		all := strings.Fields(words)
		return newKind(oneOf(all), wordParser(all), text, tagText)
	case form == "listener":
		return newKind(listenForms, parseListen, strconv.Quote, tagText)
	case form == "optional listener":
		return newKind(listenForms, optional(parseListen), strconv.Quote, tagText)
	case form == "base path":
		return newKind("a path such as /push", parseBasePath, strconv.Quote, tagText)
	case form == "hosts":
		return newKind("a list of hosts", parseList(parseHost), printList(text))
	case form == "optional address":
		return newKind("an address and a port, such as :80", optional(parseAddress), strconv.Quote, tagText)
	case form == "path":
		return newKind("a path", parsePath, strconv.Quote, tagText)
	case form == "url":
		return newKind("a URL such as https://push.example.com", parseBaseURL, strconv.Quote, tagText)
	case form == "contact":
		return newKind(contactForms, optional(parseContact), strconv.Quote, tagText)
	case form == "directory":
		return newKind("a URL such as https://ca.example.com/acme/acme/directory", parseDirectoryURL, strconv.Quote, tagText)
	case form == "email":
		return newKind("an address such as ann@example.com", optional(parseEmail), strconv.Quote, tagText)
	case form == "domains":
		return newKind("a list of domains", parseDomains, printList(text))
	case form == "day":
		return newKind("a day such as 2027-01-31", optional(parseDay), strconv.Quote, tagText, tagTime)
	case form == "regexp":
		return newKind("a regular expression such as .+@example\\.com", parseRegexp, strconv.Quote, tagText)
	case form == "events":
		return newKind("a list of events", parseList(wordParser(hookEvents())), printList(text))
	case form == "command":
		return newKind("a list of a program and its arguments", parseCommand, printList(text))
	case form == "names":
		return newKind("a list of names", parseList(parseName), printList(text))
	case form == "emails":
		return newKind("a list of addresses", parseList(parseAccount), printList(text))
	case form == "word":
		return newKind("a word", parseWord, strconv.Quote, tagText)
	case form == "words":
		return newKind("a list of words", parseList(parseScope), printList(text))
	case form == "kinds":
		return newKind("a list of kinds", parseList(wordParser(pushKinds)), printList(text))
	case form == "issuer":
		return newKind("a URL such as https://id.example.com", parseIssuer, strconv.Quote, tagText)
	case form == "header":
		return newKind("the name of a header", parseHeader, strconv.Quote, tagText)
	case form == "database":
		return newKind(databaseForms, parseDatabase, printSecret, tagText)
	case form == "recipients":
		return newKind("a list of age recipients", parseList(parseRecipient), printList(text))
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
		return newKind("a size such as 400MiB, 10MB or 1000", ParseSize, Size.String, tagText, tagInt)
	case reflect.TypeFor[time.Duration]():
		// tagFloat lets a number with a fraction reach the message about its unit.
		return newKind("a duration such as 10m, 36h or 90d", parseDuration, formatDuration, tagText, tagInt, tagFloat)
	case reflect.TypeFor[secret.Text]():
		return newKind("text", parseSecret, printSecret, tagText)
	case reflect.TypeFor[[]netip.Prefix]():
		return newKind("a list of addresses and networks", parseList(parsePrefix), printList(netip.Prefix.String))
	case reflect.TypeFor[[]OIDC]():
		return providerList.kind()
	case reflect.TypeFor[[]NamedPolicy]():
		return policyList.kind()
	case reflect.TypeFor[Switch]():
		return newKind("true or false", parseSwitch, func(s Switch) string { return string(s) }, tagBool)
	case reflect.TypeFor[[]HookHost]():
		return newKind("a list of hosts and networks", parseList(parseHookHost), printList(HookHost.String))
	default:
		panic("config: no setting can be a " + f.Type.String())
	}
}

// text returns a text as it is.
func text(s string) string { return s }

// parseList returns a parser of a list as splitList reads it. Its error names the entry by
// its number.
func parseList[T any](parse func(string) (T, error)) func(string) ([]T, error) {
	return func(text string) ([]T, error) {
		items, err := splitList(text)
		if err != nil {
			return nil, err
		}
		all := []T{}
		for _, item := range items {
			one, err := parse(item)
			if err != nil {
				return nil, errors.New("entry " + strconv.Itoa(len(all)+1) + " " + err.Error())
			}
			all = append(all, one)
		}
		return all, nil
	}
}

// splitList returns the entries of a list: a JSON list of texts, whose entries stay as they
// are, or entries that are separated by commas, without the spaces around them.
func splitList(text string) (items []string, err error) {
	switch {
	case text == "":
		return nil, nil
	case !strings.HasPrefix(text, `["`) && text != "[]":
		items = strings.Split(text, ",")
		for i := range items {
			items[i] = strings.TrimSpace(items[i])
		}
		return items, nil
	case !utf8.ValidString(text) || json.Unmarshal([]byte(text), &items) != nil:
		return nil, errors.New(`must be a list of texts in JSON, such as ["a", "b"], or separated by commas`)
	}
	return items, nil
}

// joinList returns the text of a list, for splitList.
func joinList(items []string) string {
	text, _ := json.Marshal(items) // texts are always JSON
	return string(text)
}

// printList returns what writes entries as a YAML list in one line.
func printList[T any](print func(T) string) func([]T) string {
	return func(all []T) string {
		items := make([]string, len(all))
		for i, one := range all {
			items[i] = strconv.Quote(print(one))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
}

func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func wordParser(words []string) func(string) (string, error) {
	return func(text string) (string, error) {
		if !slices.Contains(words, text) {
			return "", errors.New("must be " + oneOf(words))
		}
		return text, nil
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

// parseSecret returns the zero Text for an empty text, so that an empty setting
// counts as not set.
func parseSecret(text string) (secret.Text, error) {
	if text == "" {
		return secret.Text{}, nil
	}
	return secret.New(text), nil
}

// printSecret writes a YAML list, which Load refuses: a printed configuration must
// not be taken for one that has its key.
func printSecret(s secret.Text) string {
	if s.IsZero() {
		return `""`
	}
	return s.String()
}
