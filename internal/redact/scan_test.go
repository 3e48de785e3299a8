package redact

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestScanSplit compares the positions of literals found by a scan of quarters with those of one
// scan from the beginning to the end.
func TestScanSplit(t *testing.T) {
	t.Parallel()
	a := newAutomaton()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		var b strings.Builder
		for size := rng.IntN(600); b.Len() < size; {
			switch rng.IntN(3) {
			case 0:
				b.WriteString(a.text[rng.IntN(allLiterals)])
			case 1:
				b.WriteString([]string{kelvinSign, longS, dottedI, "aaaa", " "}[rng.IntN(5)])
			default:
				b.WriteByte(byte(rng.IntN(256)))
			}
		}
		checkScan(t, a, []byte(b.String()))
	}
	checkScan(t, a, []byte(strings.Repeat("a password-key ", 3*scanBlock/15)))
}

func checkScan(t *testing.T, a *automaton, text []byte) {
	t.Helper()
	want, got := new(scratch), new(scratch)
	a.scanRange(text, 0, len(text), 0, want)
	a.scan(text, got)
	if want.odd != got.odd || want.lower != got.lower {
		t.Errorf("%q: odd %v, lower %v, want %v and %v", text, got.odd, got.lower, want.odd, want.lower)
	}
	for id := range want.places {
		if !a.start[id] {
			want.places[id] = want.places[id][:min(1, len(want.places[id]))]
			got.places[id] = got.places[id][:min(1, len(got.places[id]))]
		}
		if !slices.Equal(want.places[id], got.places[id]) {
			t.Errorf("%q: %q is at %v, want %v", text, a.text[id], got.places[id], want.places[id])
		}
	}
}

// TestCleanTexts checks that only a text that was recorded as free of findings is treated as one.
func TestCleanTexts(t *testing.T) {
	t.Parallel()
	var c cleanTexts
	text := []byte(strings.Repeat("a", maxClean))
	if c.slot(text).holds(text) {
		t.Error("a text is held that was never set")
	}
	c.slot(text).set(text)
	if !c.slot(text).holds(text) || c.slot(text).holds(text[:maxClean-1]) {
		t.Error("another text is held than the one that was set")
	}
	if longer := make([]byte, maxClean+1); c.slot(longer) != nil {
		t.Error("a text is held that is too long")
	}
	other := []byte(strings.Repeat("b", maxClean))
	slot := c.slot(text)
	if slot.set(other); slot.holds(text) || !slot.holds(other) {
		t.Error("the slot does not hold the text that was set last")
	}
}
