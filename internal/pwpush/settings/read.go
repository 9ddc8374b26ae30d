package settings

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

const maxFile = 1 << 20

// A Variable is an environment variable of Password Pusher's server.
type Variable struct {
	Name  string
	Value string // may be a secret; no error and no remark quotes it
	Line  int    // in the file

	// The value refers to another variable, as in ${KEY}, and is not known here.
	Refers bool
}

// Read returns the variables in a .env file, or those of Password Pusher's services in a
// compose file, in their order. notes say what of the file was not read.
func Read(r io.Reader) (vars []Variable, notes []string, err error) {
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return nil, nil, err
	case len(b) > maxFile:
		return nil, nil, errors.New("the file is larger than 1 MiB, so it is not a file of variables")
	case !utf8.Valid(b):
		return nil, nil, errors.New("the file is not text in UTF-8")
	}
	text := strings.TrimPrefix(string(b), "\ufeff")
	if composeFile.MatchString(text) {
		return readCompose(text)
	}
	vars, err = readEnv(text)
	return vars, nil, err
}

// composeFile finds the key that every compose file has, and no .env file.
var composeFile = regexp.MustCompile(`(?m)^services:\s*(#.*)?\r?$`)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)

var reference = regexp.MustCompile(`\$(\{|[A-Za-z_])`)

// readEnv reads lines NAME=VALUE, as docker compose and shells do. A name alone takes its
// value from the machine.
func readEnv(text string) (vars []Variable, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		name = strings.TrimSpace(name)
		if !variableName.MatchString(name) {
			return nil, fmt.Errorf("line %d is not NAME=VALUE", n)
		}
		v, err := envValue(value)
		if err != nil {
			return nil, fmt.Errorf("line %d: the value of %s %w", n, name, err)
		}
		v.Name, v.Line, v.Refers = name, n, v.Refers || !ok
		vars = append(vars, v)
	}
	return vars, nil
}

// envValue reads the value of a line, which may have quotes and a comment behind it.
func envValue(after string) (v Variable, err error) {
	text := strings.TrimSpace(after)
	if text == "" || text[0] != '"' && text[0] != '\'' {
		text, _, _ = strings.Cut(after, " #")
		text = strings.TrimSpace(text)
		return Variable{Value: text, Refers: reference.MatchString(text)}, nil
	}
	quote, inner := text[0], strings.Builder{}
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote:
			if rest := strings.TrimSpace(text[i+1:]); rest != "" && rest[0] != '#' {
				return v, errors.New("continues after its closing quote")
			}
			v.Value = inner.String()
			v.Refers = quote == '"' && reference.MatchString(v.Value)
			return v, nil
		case c == '\\' && quote == '"' && i+1 < len(text) && strings.IndexByte(`"\$`, text[i+1]) >= 0:
			i++
			inner.WriteByte(text[i])
		default:
			inner.WriteByte(c)
		}
	}
	return v, errors.New("has no closing quote in the same line")
}
