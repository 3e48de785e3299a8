package shellcmd

// Words returns the words of each command.
func (l Line) Words() [][]string {
	var all [][]string
	for _, c := range l.commands {
		all = append(all, c.words)
	}
	return all
}

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
