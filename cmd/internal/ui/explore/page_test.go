package explore

import (
	"testing"
)

// A search finds a text as shown, without the codes of its colors.
func TestSearchIgnoresColors(t *testing.T) {
	t.Parallel()
	p := newPage(Text{Lines: []Line{{Text: "one"}, {Text: "tw\x1b[1mo\x1b[0m"}}})
	p.find = "two"
	if !p.next(10) || p.at != 1 {
		t.Errorf("at line %d", p.at)
	}
	p.find = "[1m"
	if p.next(10) {
		t.Error("found a code")
	}
}
