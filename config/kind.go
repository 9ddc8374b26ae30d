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

	"pushbox/internal/email"
	"pushbox/internal/secret"
)

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

func textKind(what string, parse func(string) (string, error), tags ...string) kind {
	return newKind(what, parse, strconv.Quote, append(tags, tagText)...)
}

func listKind[T any](what string, parse func(string) (T, error), print func(T) string) kind {
	return newKind(what, parseList(parse), printList(print))
}

func kindOf(f reflect.StructField) kind {
	if words := strings.Fields(f.Tag.Get("oneof")); len(words) > 0 {
		return newKind(oneOf(words), wordParser(words), text, tagText)
	}
	switch f.Type { // not in types, because the keys of an entry have kinds themselves
	case reflect.TypeFor[[]OIDC]():
		return providerList.kind()
	case reflect.TypeFor[[]NamedPolicy]():
		return policyList.kind()
	}
	k, known := types[f.Type]
	if form, given := f.Tag.Lookup("form"); given {
		k, known = forms[form]
	}
	if !known {
		panic("config: no setting can be a " + f.Type.String() + " with the tags " + string(f.Tag))
	}
	return k
}

var types = map[reflect.Type]kind{
	reflect.TypeFor[string]():         textKind("text", parseText),
	reflect.TypeFor[bool]():           newKind("true or false", parseBool, strconv.FormatBool, tagBool),
	reflect.TypeFor[Switch]():         newKind("true or false", parseSwitch, func(s Switch) string { return string(s) }, tagBool),
	reflect.TypeFor[fs.FileMode]():    newKind("permissions such as 0660", parseMode, printMode, tagText, tagInt),
	reflect.TypeFor[int]():            newKind("a whole number", parseInt, strconv.Itoa, tagInt),
	reflect.TypeFor[Size]():           newKind("a size such as 400MiB, 10MB or 1000", ParseSize, Size.String, tagText, tagInt),
	reflect.TypeFor[secret.Text]():    newKind("text", parseSecret, printSecret, tagText),
	reflect.TypeFor[[]netip.Prefix](): listKind("a list of addresses and networks", parsePrefix, netip.Prefix.String),
	reflect.TypeFor[[]HookHost]():     listKind("a list of hosts and networks", parseHookHost, HookHost.String),

	// tagFloat lets a number with a fraction reach the message about its unit.
	reflect.TypeFor[time.Duration](): newKind("a duration such as 10m, 36h or 90d", parseDuration, formatDuration, tagText, tagInt, tagFloat),
}

// forms are the kinds of texts and lists of texts, by their tag form.
var forms = map[string]kind{
	"base path":         textKind("a path such as /push", parseBasePath),
	"command":           newKind("a list of a program and its arguments", parseCommand, printList(text)),
	"contact":           textKind(contactForms, optional(parseContact)),
	"database":          newKind(databaseForms, parseDatabase, printSecret, tagText),
	"day":               textKind("a day such as 2027-01-31", optional(such("a day such as 2027-01-31", isDay)), tagTime),
	"directory":         textKind(directoryForm, such(directoryForm, isHTTPS)),
	"domains":           newKind("a list of domains", parseDomains, printList(text)),
	"email":             textKind(addressForm, optional(such(addressForm, email.IsAddress))),
	"emails":            listKind("a list of addresses", parseAccount, text),
	"events":            listKind("a list of events", wordParser(hookEvents), text),
	"header":            textKind("the name of a header", such("the name of a header, such as Remote-Email", isHeader)),
	"hosts":             listKind("a list of hosts", parseHost, text),
	"issuer":            textKind("a URL such as https://id.example.com", parseIssuer),
	"kinds":             listKind("a list of kinds", wordParser(pushKinds), text),
	"listener":          textKind(listenForms, parseListen),
	"names":             listKind("a list of names", parseName, text),
	"optional address":  textKind(portForm, optional(such(portForm, isListenAddress))),
	"optional listener": textKind(listenForms, optional(parseListen)),
	"path":              textKind("a path", parseName),
	"recipients":        listKind("a list of age recipients", such("an age recipient, which begins with age1", isRecipient), text),
	"regexp":            textKind(regexpForm, such(regexpForm, isRegexp)),
	"url":               textKind("a URL such as https://push.example.com", parseBaseURL),
	"word":              textKind("a word", such("a word of at most 32 letters from a to z, digits and dashes", isWord)),
	"words":             listKind("a list of words", such("a word", isScope), text),
}

var pushKinds = []string{"text", "file", "url", "qr"}

func text(s string) string { return s }

func optional(parse func(string) (string, error)) func(string) (string, error) {
	return func(text string) (string, error) {
		if text == "" {
			return "", nil
		}
		return parse(text)
	}
}

func such(what string, is func(string) bool) func(string) (string, error) {
	return func(text string) (string, error) {
		if !is(text) {
			return "", errors.New("must be " + what)
		}
		return text, nil
	}
}

func wordParser(words []string) func(string) (string, error) {
	return such(oneOf(words), func(text string) bool { return slices.Contains(words, text) })
}

func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

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

// printList returns a function that writes entries as a YAML list in one line.
func printList[T any](print func(T) string) func([]T) string {
	return func(all []T) string {
		items := make([]string, len(all))
		for i, one := range all {
			items[i] = strconv.Quote(print(one))
		}
		return "[" + strings.Join(items, ", ") + "]"
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

func parseSwitch(text string) (Switch, error) {
	on, err := parseBool(text)
	if err != nil {
		return Open, err
	}
	return Switch(strconv.FormatBool(on)), nil
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
