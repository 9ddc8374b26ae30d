// Package environ reads the environment of a process.
package environ

import "strings"

// Map returns the variables of an environment, as os.Environ returns it, by name. If a
// name occurs more than once, its last value counts.
func Map(environ []string) map[string]string {
	all := make(map[string]string, len(environ))
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		all[name] = value
	}
	return all
}
