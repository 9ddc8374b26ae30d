package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"pushbox/internal/environ"

	"go.yaml.in/yaml/v3"
)

type configFile struct {
	*loader
	origin   string
	sections []string
}

// readFile takes the settings of a YAML file. It walks the nodes itself, because a decoder loses
// details that problems need: lines, duplicates, letter case, null, and whether a value was a
// number.
func (l *loader) readFile(name string) {
	if name == "" {
		return
	}
	f := configFile{loader: l, origin: "file " + oneLine(name)}
	for _, s := range l.settings {
		if section := sectionOf(s.Key); section != "" && !slices.Contains(f.sections, section) {
			f.sections = append(f.sections, section)
		}
	}
	root, err := parseFile(name)
	switch {
	case err != nil:
		l.problem("", f.origin, "%v", err)
		l.complete = false
		if errors.Is(err, errUnread) {
			l.unread = err
		}
	case root.Kind != yaml.MappingNode:
		l.problem("", f.origin, "must hold keys with values, such as allow_anonymous: true")
		l.complete = false
	default:
		f.mapping(root, "")
	}
}

// mapping takes the keys of a section, or of the file itself.
func (f configFile) mapping(n *yaml.Node, prefix string) {
	lines := make(map[string]int)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		place := fmt.Sprintf("%s, line %d", f.origin, k.Line)
		first, again := lines[k.Value]
		switch {
		case k.Kind != yaml.ScalarNode:
			f.problem("", place, "a key must be a word")
		case again:
			f.problem(shown(prefix+k.Value), place, "was already set in line %d", first)
		case strings.Contains(k.Value, "."):
			f.problem(shown(prefix+k.Value), place, "is not a setting: a section and its keys are written on lines of their own")
		default:
			lines[k.Value] = k.Line
			f.entry(prefix+k.Value, aliased(n.Content[i+1]), place, k.Line)
		}
	}
}

// entry takes the value of a key, which is preceded by its sections.
func (f configFile) entry(key string, n *yaml.Node, place string, line int) {
	s, isSetting := f.byKey[key]
	isSection := slices.Contains(f.sections, key)
	switch {
	case !isSetting && !isSection:
		f.unknown(key, place)
	case n.ShortTag() == tagNull:
		f.problem(key, place, "is empty")
	case isSetting:
		f.leaf(s, n, place, line)
	case n.Kind != yaml.MappingNode:
		f.problem(key, place, "must be a section with keys")
	default:
		f.mapping(n, key+".")
	}
}

func (f configFile) unknown(key, place string) {
	known := slices.Clone(f.sections)
	for _, s := range f.settings {
		known = append(known, s.Key)
	}
	known = slices.DeleteFunc(known, func(k string) bool { return sectionOf(k) != sectionOf(key) })
	f.problem(shown(key), place, "is not a setting%s", didYouMean(key, known))
}

var keyLike = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// shown returns a key as messages may show it. A text that does not look like a key
// is not shown: in {master_key:X} the key contains a secret.
func shown(key string) string {
	if keyLike.MatchString(key) {
		return key
	}
	return "a key"
}

func (f configFile) leaf(s setting, n *yaml.Node, place string, line int) {
	if text, ok := s.textOf(n); ok {
		f.accept(s, text, f.origin, place, line)
	} else {
		f.problem(s.Key, place, "must be %s", s.what)
	}
}

const maxFile = 256 << 10

// The YAML tags that matter here.
const (
	tagNull  = "!!null"
	tagText  = "!!str"
	tagTime  = "!!timestamp" // YAML takes a day for one
	tagInt   = "!!int"
	tagFloat = "!!float"
	tagBool  = "!!bool"
)

var errUnread = errors.New("cannot be read")

func parseFile(name string) (*yaml.Node, error) {
	data, err := readBounded(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnread, reason(err))
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("must not be larger than %v", Size(maxFile))
	}
	var doc, second yaml.Node
	nothing := &yaml.Node{Kind: yaml.MappingNode}
	d := yaml.NewDecoder(bytes.NewReader(data))
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nothing, nil
	case err != nil:
		return nil, syntaxError(err)
	}
	if err := d.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, errors.New("must hold one YAML document")
	}
	if root := doc.Content[0]; root.ShortTag() != tagNull {
		return root, nil
	}
	return nothing, nil
}

// readBounded reads the file, or a little more than maxFile of it.
func readBounded(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// reason returns the error without the name of the file, which its caller adds.
func reason(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// syntaxError drops the name of an anchor from a YAML error: that is text of the file,
// and may be part of a secret. No other YAML error quotes the file.
func syntaxError(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if strings.Contains(text, "anchor") {
		text = "it refers to an anchor that does not exist"
	}
	return errors.New("is not valid YAML: " + text)
}

func aliased(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func (k kind) textOf(n *yaml.Node) (string, bool) {
	switch {
	case k.nested:
		b, err := yaml.Marshal(n)
		return string(b), err == nil && n.Kind == yaml.SequenceNode
	case len(k.tags) == 0:
		return list(n)
	default:
		return n.Value, n.Kind == yaml.ScalarNode && slices.Contains(k.tags, n.ShortTag())
	}
}

func list(n *yaml.Node) (string, bool) {
	items := make([]string, len(n.Content))
	for i, c := range n.Content {
		if c = aliased(c); c.Kind != yaml.ScalarNode || c.ShortTag() != tagText {
			return "", false
		}
		items[i] = c.Value
	}
	return joinList(items), n.Kind == yaml.SequenceNode
}

// Path returns the file that a configuration is read from, or an empty text.
func (src Source) Path() string { return newLoader(settings(), src.Environ).fileName(src.File) }

// NamesPlace reports whether a settings file is named, or a data directory in the environment.
func (src Source) NamesPlace() bool {
	vars := environ.Map(src.Environ)
	_, file := vars[envFile]
	_, dir := vars[envPrefix+"DATA_DIR"]
	return src.File != "" || file || dir
}
