package linediff

import "unicode"

// LeastMoved is how many letters and digits a block of lines has at least to count as moved:
// fewer may be the same by chance. Git has the same limit.
const LeastMoved = 20

// Letters returns how many letters and digits a text has.
func Letters(text string) int {
	n := 0
	for _, c := range text {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			n++
		}
	}
	return n
}
