package shellcmd

// Masked reports whether the line may succeed even if a command in it failed.
func (l Line) Masked() bool { return l.masked }

// CheckNames returns the names of the line's checks.
func (l Line) CheckNames() []string { return l.Checks().Names() }
