package plain

import "strings"

// Error returns the text of an error without repetitions: each layer that wraps an error may name
// the same file, as in "read /a/b: open /a/b: permission denied". The first mention is kept. The
// text of nil is empty.
func Error(err error) string {
	if err == nil {
		return ""
	}
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		lines[i] = withoutRepetitions(line)
	}
	return strings.Join(lines, "\n")
}

func withoutRepetitions(line string) string {
	const sep = ": "
	var kept []string
	for part := range strings.SplitSeq(line, sep) {
		if n := len(kept); n == 0 || !repeats(kept[n-1], part) {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, sep)
}

// repeats reports whether part is the same as the part before it, or an operation on the path with
// which that one ends.
func repeats(before, part string) bool {
	if before == part {
		return part != ""
	}
	op, path, found := strings.Cut(part, " ")
	return found && op != "" && strings.Contains(path, "/") && strings.HasSuffix(before, " "+path)
}
