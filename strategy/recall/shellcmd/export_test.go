package shellcmd

// Masked reports whether the line may succeed even if a command in it failed.
func (l Line) Masked() bool { return l.masked }

// CheckNames returns the names of the line's checks.
func (l Line) CheckNames() []string {
	var names []string
	for i, name := range []string{"tests", "builds", "lints", "commits", "pushes"} {
		if l.Checks()&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}
