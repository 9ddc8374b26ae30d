package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFile is the size of the largest file that is read, in bytes.
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

// parseFile returns the value in the file; for an empty file, a mapping without
// keys.
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
		text = "it refers to an anchor that it does not have"
	}
	return errors.New("is not valid YAML: " + text)
}

// aliased returns the node itself, or the one that it is an alias of.
func aliased(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// scalar returns the text of a scalar that has one of the tags.
func scalar(n *yaml.Node, tags []string) (string, bool) {
	return n.Value, n.Kind == yaml.ScalarNode && slices.Contains(tags, n.ShortTag())
}

// list returns the texts of a list as splitList reads them.
func list(n *yaml.Node) (string, bool) {
	items := make([]string, len(n.Content))
	for i, c := range n.Content {
		text, ok := scalar(aliased(c), []string{tagText})
		if !ok {
			return "", false
		}
		items[i] = text
	}
	return joinList(items), n.Kind == yaml.SequenceNode
}
