package shellcmd

// Words returns the words of each command.
func (line Line) Words() [][]string {
	var all [][]string
	for _, c := range line.commands {
		all = append(all, c.words)
	}
	return all
}

// Masked reports whether the line may succeed though a command in it failed.
func (line Line) Masked() bool { return line.masked }

// CheckNames returns the names of what the line checks.
func (line Line) CheckNames() []string {
	var names []string
	for i, name := range []string{"tests", "builds", "lints", "commits", "pushes"} {
		if line.Checks()&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}
