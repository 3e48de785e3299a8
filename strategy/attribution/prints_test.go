package attribution_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/strategy/attribution"
)

// printed returns the lines of a text, numbered from 1. A line "..." stands for lines of others.
func printed(text string) (lines []attribution.PrintedLine) {
	for i, line := range strings.Split(strings.Trim(text, "\n"), "\n") {
		if line != "..." {
			lines = append(lines, attribution.PrintedLine{
				Number: i + 1, Print: checkpoint.Print([]byte(line)), Letters: attribution.Identifying(line),
			})
		}
	}
	return lines
}

func TestFollowPrints(t *testing.T) {
	t.Parallel()
	const function = "func reverse(text string) string {\n\tresult := []rune(text)\n\tslices.Reverse(result)\n\treturn string(result)\n}"
	tests := map[string]struct {
		was, now, had string
		otherName     bool
		confirmed     bool
		want          []int // the numbers in was of the lines of now
	}{
		"the same lines":                    {was: function, now: function, want: []int{1, 2, 3, 4, 5}},
		"indented":                          {was: function, now: strings.ReplaceAll(function, "\t", "        "), want: []int{1, 2, 3, 4, 5}},
		"lines of another before and after": {was: function, now: "a line of another\n" + function + "\nmore of another", want: []int{0, 1, 2, 3, 4, 5, 0}},
		"a line replaced":                   {was: function, now: strings.Replace(function, "slices.Reverse(result)", "swapEnds(result)", 1), want: []int{1, 2, 0, 4, 5}},
		"a block moved":                     {was: "the first block of the file\nthe second block of the file", now: "the second block of the file\nthe first block of the file", want: []int{2, 1}},
		"common lines alone":                {was: "\treturn nil\n}", now: "\treturn nil\n}", want: []int{0, 0}},
		"a short line alone":                {was: "x := 1", now: "x := 1", want: []int{0}},
		"a whole record of one line":        {was: "limit := maximum", now: "mine()\nlimit := maximum", want: []int{0, 1}},
		"a part of a short record":          {was: "limit := maximum\nlower()", now: "limit := maximum", want: []int{0}},
		"a part, of a confirmed checkpoint": {was: "limit := maximum\nlower()", now: "limit := maximum", confirmed: true, want: []int{1}},
		"a short line, confirmed":           {was: function + "\n...\nlimit := 10", now: function + "\n...\nlimit := 10", want: []int{1, 2, 3, 4, 5, 7}},
		"lines that the parent had":         {was: function, now: function, had: function, want: []int{0, 0, 0, 0, 0}},
		"an idiom that the parent had":      {was: function + "\nif err != nil {", now: function + "\nif err != nil {", had: "if err != nil {", want: []int{1, 2, 3, 4, 5, 6}},
		"the idiom at another place":        {was: function + "\nif err != nil {", now: "if err != nil {\n" + "mine()", had: "if err != nil {", want: []int{0, 0}},
		"more often than recorded":          {was: "counter.add(1, now)", now: "counter.add(1, now)\nother\ncounter.add(1, now)", want: []int{0, 0, 0}},
		"in a file of another name":         {was: function, now: function, otherName: true, want: []int{1, 2, 3, 4, 5}},
		"a whole record, of another name":   {was: "result := compute(maximum)", now: "mine()\nresult := compute(maximum)", otherName: true, want: []int{0, 0}},
		"the same, confirmed":               {was: "result := compute(maximum)", now: "mine()\nresult := compute(maximum)", otherName: true, confirmed: true, want: []int{0, 1}},
		"a line of a file of another name":  {was: function + "\n" + strings.ReplaceAll(function, "e", "i"), now: "\tslices.Reverse(result)", otherName: true, want: []int{0}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			had := map[uint32]bool{}
			for _, l := range printed(tt.had) {
				had[l.Print] = true
			}
			var got []int
			for _, l := range attribution.FollowPrints(printed(tt.was), printed(tt.now), had, attribution.Evidence{SameName: !tt.otherName, Confirmed: tt.confirmed}) {
				got = append(got, l.Number)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPrintsAreParsedAsFormatted(t *testing.T) {
	t.Parallel()
	want := []uint32{0, 1, 0xffffffff, checkpoint.Print([]byte("\t a line \r\n"))}
	text := checkpoint.FormatPrints(want)
	if diff := cmp.Diff(want, checkpoint.ParsePrints(text)); diff != "" {
		t.Error(diff)
	}
	if want[3] != checkpoint.Print([]byte("a line")) || text != "AAAAAAAAAAH/////B/GE1g" {
		t.Errorf("%08x, %s", want[3], text)
	}
	for _, bad := range []string{"", "A", "AAAAAAA", "****", "AAAAAAAAAAAA"} {
		if got := checkpoint.ParsePrints(bad); got != nil {
			t.Errorf("%q is parsed as %v", bad, got)
		}
	}
}
