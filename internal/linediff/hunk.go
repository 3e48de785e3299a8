package linediff

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// contextLines is the number of unchanged lines around a change.
const contextLines = 3

// Hunk is a hunk of a unified diff, as git writes it.
type Hunk struct {
	Old, New Range
	// Lines begin with their Kind and end with a newline. The marker of a missing newline at the
	// end of a text is part of the line before it.
	Lines []string
}

// Range is a range of lines, with First counted from 0.
type Range struct{ First, Count int }

// String returns the hunk with its header.
func (h *Hunk) String() string {
	return fmt.Sprintf("@@ -%s +%s @@\n%s", h.Old, h.New, strings.Join(h.Lines, ""))
}

func (r Range) String() string {
	switch r.Count {
	case 0:
		return fmt.Sprintf("%d,0", r.First)
	case 1:
		return strconv.Itoa(r.First + 1)
	}
	return fmt.Sprintf("%d,%d", r.First+1, r.Count)
}

// Hunks returns the hunks of a diff of a and b. Each is valid until the next one.
func Hunks(a, b string, ops []Op) iter.Seq[*Hunk] {
	return func(yield func(*Hunk) bool) {
		x, y := slices.Collect(strings.Lines(a)), slices.Collect(strings.Lines(b))
		var h Hunk
		i, j, kept := 0, 0, 0 // lines consumed of each, unchanged lines before
		for n, op := range ops {
			if op.Kind != Kept && len(h.Lines) == 0 {
				lead := min(kept, contextLines)
				h.Old, h.New = Range{First: i - lead}, Range{First: j - lead}
				h.add(Kept, x[i-lead:i])
			}
			switch op.Kind {
			case Removed:
				h.add(Removed, x[i:i+op.Lines])
				i += op.Lines
			case Added:
				h.add(Added, y[j:j+op.Lines])
				j += op.Lines
			case Kept:
				joins := op.Lines <= 2*contextLines && n < len(ops)-1
				if len(h.Lines) > 0 && joins {
					h.add(Kept, x[i:i+op.Lines])
				} else if len(h.Lines) > 0 {
					h.add(Kept, x[i:i+min(op.Lines, contextLines)])
					if !yield(&h) {
						return
					}
					h.Lines = h.Lines[:0]
				}
				i, j, kept = i+op.Lines, j+op.Lines, op.Lines
			}
		}
		if len(h.Lines) > 0 {
			yield(&h)
		}
	}
}

func (h *Hunk) add(kind Kind, lines []string) {
	if kind != Added {
		h.Old.Count += len(lines)
	}
	if kind != Removed {
		h.New.Count += len(lines)
	}
	for _, line := range lines {
		if !strings.HasSuffix(line, "\n") {
			line += "\n\\ No newline at end of file\n"
		}
		h.Lines = append(h.Lines, string(kind)+line)
	}
}
