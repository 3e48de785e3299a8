package capture

// DifferingLines counts the lines that differ.
func DifferingLines(before, after []byte) (added, removed int) { return CountChanged(before, after) }
