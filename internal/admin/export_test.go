package admin

// Changing returns the names of the operations that are not said to change nothing.
func Changing() (names []string) {
	for _, o := range operations() {
		if r, ok := o.(interface{ Reads() bool }); ok && !r.Reads() {
			names = append(names, o.title())
		}
	}
	return names
}
