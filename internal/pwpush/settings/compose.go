package settings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

type composeService struct {
	Environment yaml.Node `yaml:"environment"`
	EnvFile     yaml.Node `yaml:"env_file"`
}

// readCompose returns the variables of the services that have one of Password Pusher's. Where
// two services differ in a variable, the first one counts.
func readCompose(text string) (vars []Variable, notes []string, err error) {
	var file struct {
		Services yaml.Node `yaml:"services"`
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		return nil, nil, errCompose
	}
	if file.Services.Kind != yaml.MappingNode {
		return nil, nil, errCompose
	}
	seen := make(map[string]string)
	for i := 0; i+1 < len(file.Services.Content); i += 2 {
		name := shown(file.Services.Content[i].Value)
		var s composeService
		if err := file.Services.Content[i+1].Decode(&s); err != nil {
			return nil, nil, fmt.Errorf("the service %s is not one: %w", name, errCompose)
		}
		own, err := environment(s.Environment)
		if err != nil {
			return nil, nil, fmt.Errorf("the environment of the service %s: %w", name, err)
		}
		if s.EnvFile.Kind != 0 {
			notes = append(notes, "the service "+name+" also reads an env_file, which was not opened: convert that file, too")
		}
		if !slices.ContainsFunc(own, func(v Variable) bool { return strings.HasPrefix(v.Name, "PWP") }) {
			continue
		}
		for _, v := range own {
			first, again := seen[v.Name]
			switch {
			case !again:
				seen[v.Name] = v.Value
				vars = append(vars, v)
			case first != v.Value:
				notes = append(notes, "services differ in "+v.Name+": the value of the first one counts")
			}
		}
	}
	return vars, notes, nil
}

// errCompose has no text of the parser: that may quote a secret.
var errCompose = errors.New("it is not a compose file that can be read; `docker compose config` says what is wrong with it")

// shown returns the name of a service as messages may show it.
func shown(name string) string {
	if variableName.MatchString(strings.ReplaceAll(name, "-", "_")) {
		return name
	}
	return "without a plain name"
}

// environment reads the variables of a service: a mapping, or a list of NAME=VALUE.
func environment(n yaml.Node) (vars []Variable, err error) {
	switch n.Kind {
	case 0:
		return nil, nil
	case yaml.AliasNode:
		return environment(*n.Alias)
	case yaml.SequenceNode:
		var list []yaml.Node
		if err := n.Decode(&list); err != nil {
			return nil, errCompose
		}
		for _, item := range list {
			name, value, ok := strings.Cut(item.Value, "=")
			if vars, err = appendVariable(vars, name, value, item.Line, !ok); err != nil {
				return nil, err
			}
		}
		return vars, nil
	}
	// The decoder of a mapping follows its merge keys.
	var all map[string]yaml.Node
	if err := n.Decode(&all); err != nil {
		return nil, errCompose
	}
	for name, value := range all {
		if value.Kind == yaml.AliasNode {
			value = *value.Alias
		}
		if value.Kind != yaml.ScalarNode {
			return nil, errCompose
		}
		if vars, err = appendVariable(vars, name, value.Value, value.Line, value.ShortTag() == "!!null"); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(vars, func(a, b Variable) int { return cmp.Or(a.Line-b.Line, strings.Compare(a.Name, b.Name)) })
	return vars, nil
}

// appendVariable appends a variable of a service. Without a value it takes that of the
// machine, so it refers to another one.
func appendVariable(vars []Variable, name, value string, line int, bare bool) ([]Variable, error) {
	if !variableName.MatchString(name) {
		return nil, fmt.Errorf("line %d does not name a variable", line)
	}
	refers := bare || reference.MatchString(strings.ReplaceAll(value, "$$", ""))
	return append(vars, Variable{Name: name, Value: strings.ReplaceAll(value, "$$", "$"), Line: line, Refers: refers}), nil
}
