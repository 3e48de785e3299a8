package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// sampleSheet returns a sheet with a question of each kind.
func sampleSheet(columns, rows int) *sheet {
	s := newSheet("Set it up", []ui.Question{
		{Title: "Who is it for?", Help: "Help of the first.", Options: []ui.Option{{Label: "everybody", Value: "all"}, {Label: "only me", Value: "one"}}},
		{Title: "Ask before?", Default: ui.Yes, Help: "Help of the second, which is longer."},
		{Title: "Send \x1b[31mit?"},
	}, true)
	s.columns, s.rows = columns, rows
	return s
}

func TestSheetWidths(t *testing.T) {
	t.Parallel()
	wide := sampleSheet(60, 20)
	wide.press("down")
	if diff := cmp.Diff(strings.TrimPrefix(`
Set it up

  Who is it for?       [everybody]  only me
> Ask before?          [yes]  no
  Send \u001b[31mit?    yes  [no]

Help of the second, which is longer.

up/down · left/right change · enter accept all · esc leave`, "\n"), wide.render()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(strings.TrimPrefix(`
Set it up

> Who is it for?
    [everybody]  only me
  Ask before?
    [yes]  no
  Send \u001b[31mit?
     yes  [no]

Help of the first.


up/down · left/right change ·…`, "\n"), sampleSheet(30, 20).render()); diff != "" {
		t.Error(diff)
	}
}

func TestSheetFitsScreen(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{1, 9, 25, 60} {
		for _, rows := range []int{1, 3, 9, 11, 30} {
			s := sampleSheet(columns, rows)
			for _, key := range []string{"", "down", "down", "up"} {
				s.press(key)
				lines := strings.Split(s.render(), "\n")
				for _, line := range lines {
					if len(lines) > max(rows-1, 1) || ansi.StringWidth(line) > columns {
						t.Fatalf("%dx%d: %d lines, %q", columns, rows, len(lines), line)
					}
				}
				if text := s.render(); columns >= 25 && rows >= 11 && !strings.Contains(text, "> "+s.questions[s.at].Title[:4]) {
					t.Errorf("%dx%d: the question isn't shown:\n%s", columns, rows, text)
				}
			}
		}
	}
}

func TestSheetAnswers(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"enter":                                  "all yes no",
		"right enter":                            "one yes no",
		"right right left enter":                 "all yes no",
		"space space space enter":                "one yes no",
		"down n down y enter":                    "all no yes",
		"tab space tab l up enter":               "all no no",
		"y n up down down down right enter":      "all yes no",
		"down down space esc":                    "",
		"q":                                      "",
		"down space down space shift+tab ctrl+c": "",
	} {
		s := sampleSheet(80, 24)
		for key := range strings.FieldsSeq(keys) {
			s.press(key)
		}
		got := ""
		if s.accepted {
			got = strings.Join(s.answers(), " ")
		}
		if !s.left || got != want {
			t.Errorf("%s: left %v, %q, want %q", keys, s.left, got, want)
		}
	}
}
