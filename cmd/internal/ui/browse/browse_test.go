package browse

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// user presses keys on a page and runs the resulting commands.
type user struct {
	t    *testing.T
	m    *model
	left bool
}

func open(t *testing.T, page Page, width, height int) *user {
	t.Helper()
	u := &user{t: t, m: newModel(t.Context(), page, ui.Painter{Plain: true})}
	u.m.width, u.m.height = width, height
	u.run(u.m.Init())
	return u
}

// run runs a command and those that result from it.
func (u *user) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.QuitMsg:
		u.left = true
	case tea.BatchMsg:
		for _, c := range msg {
			u.run(c)
		}
	default:
		_, next := u.m.Update(msg)
		u.run(next)
	}
}

func (u *user) press(keys ...string) *user {
	for _, key := range keys {
		msg := tea.KeyPressMsg{Text: key}
		switch key {
		case "enter":
			msg = tea.KeyPressMsg{Code: tea.KeyEnter}
		case "esc":
			msg = tea.KeyPressMsg{Code: tea.KeyEscape}
		case "up":
			msg = tea.KeyPressMsg{Code: tea.KeyUp}
		case "down":
			msg = tea.KeyPressMsg{Code: tea.KeyDown}
		case "end":
			msg = tea.KeyPressMsg{Code: tea.KeyEnd}
		case "backspace":
			msg = tea.KeyPressMsg{Code: tea.KeyBackspace}
		default:
			msg.Code = []rune(key)[0]
		}
		_, cmd := u.m.Update(msg)
		u.run(cmd)
	}
	return u
}

func (u *user) sees(want string) {
	u.t.Helper()
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), u.m.render()+"\n"); diff != "" {
		u.t.Error(diff)
	}
}

func (u *user) chose(want *Result) {
	u.t.Helper()
	if diff := cmp.Diff(want, u.m.result); diff != "" || !u.left {
		u.t.Errorf("left: %v, %s", u.left, diff)
	}
}

// sample returns a page with two groups, and two items in a fold.
func sample() Page {
	choices := []Choice{{"Everything", "all"}, {"Some of it", "some"}}
	return Page{
		Title: "Go back to",
		Items: []Item{
			{ID: "c", Headings: []string{"Session 1", "Write c"}, Label: "v3 now", Choices: choices},
			{ID: "x", Label: "v2 1m", Fold: "2 rescues", Choices: choices[:1]},
			{ID: "b", Headings: []string{"Session 1", "Write b"}, Label: "v2 1m", Choices: choices},
			{ID: "y", Label: "v1 2m", Fold: "2 rescues", Choices: choices[:1]},
			{ID: "a", Headings: []string{"Session 2", "Write \x1b[31ma"}, Label: "v1 2m", Choices: choices},
		},
		Preview: func(_ context.Context, id string) string {
			return "Preview of " + id + "\n" + strings.Repeat("a line\n", 12)
		},
		Words: func(_ context.Context, id string) []string { return []string{"files/" + id + ".txt"} },
	}
}

func TestPageWidths(t *testing.T) {
	t.Parallel()
	open(t, sample(), 80, 14).press("down").sees(`
Go back to                                                                     5
  Session 1                             | Preview of b
    Write c                             | a line
      v3 now                            | a line
    Write b                             | a line
>     v2 1m                             | a line
  Session 2                             | a line
    Write \u001b[31ma                   | a line
      v1 2m                             | a line
  + 2 rescues                           | ... and 5 lines more (J scrolls)

  1  Everything
  2  Some of it
up/down · enter choose · / filter · J/K scroll · q leave
`)
	open(t, sample(), 40, 14).press("end", "enter", "down").sees(`
Go back to                             5
    Write \u001b[31ma
      v1 2m
  - 2 rescues
>   v2 1m
    v1 2m
----------------------------------------
Preview of x
a line
... and 11 lines more (J scrolls)

  1  Everything

up/down · enter choose · / filter · J/K…
`)
}

func TestLinesFitScreen(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "all sizes of a screen")
	page := sample()
	page.Items[0].Label = strings.Repeat("w\u00ef\u4e16", 80)
	page.Preview = func(context.Context, string) string { return strings.Repeat("\u4e16", 300) }
	for _, width := range []int{1, 7, 41, 79, 80, 131} {
		for _, height := range []int{1, 4, 12, 40} {
			u := open(t, page, width, height)
			for _, keys := range []string{"", "/", "v", "enter", "enter"} {
				if keys != "" {
					u.press(keys)
				}
				lines := strings.Split(u.m.render(), "\n")
				for _, line := range lines {
					if len(lines) > height || ansi.StringWidth(line) > width {
						t.Fatalf("%dx%d: %d lines, %q", width, height, len(lines), line)
					}
				}
			}
		}
	}
}

func TestFilterMatchesLabelsHeadingsAndWords(t *testing.T) {
	t.Parallel()
	for filter, want := range map[string]string{
		"write b": "b", "WRITE C": "c", "files/a": "a", "v2": "b x", "nothing": "", "v1 write": "a",
	} {
		u := open(t, sample(), 80, 24).press(append([]string{"/"}, strings.Split(filter, "")...)...)
		var ids []string
		for _, r := range u.m.list.rows {
			if r.item >= 0 {
				ids = append(ids, u.m.list.items[r.item].ID)
			}
		}
		slices.Sort(ids)
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%q: %q, want %q", filter, got, want)
		}
		if u.press("esc"); u.m.list.count() != 5 || u.left {
			t.Errorf("%q: Esc leaves the filter on", filter)
		}
	}
}

func TestChoice(t *testing.T) {
	t.Parallel()
	open(t, sample(), 80, 24).press("enter", "enter").chose(&Result{ID: "c", Choice: "all"})
	open(t, sample(), 80, 24).press("down", "2", "enter").chose(&Result{ID: "b", Choice: "some"})
	open(t, sample(), 80, 24).press("enter", "down", "enter").chose(&Result{ID: "c", Choice: "some"})
	for _, leave := range []string{"esc", "q"} {
		open(t, sample(), 80, 24).press("enter", leave, leave).chose(nil)
	}
}

func TestQuestionBeforeChoice(t *testing.T) {
	t.Parallel()
	page := sample()
	page.Confirm = func(_ context.Context, id, choice string) ui.Question {
		if choice == "some" {
			return ui.Question{}
		}
		return ui.Question{Help: "About " + id, Options: []ui.Option{{Label: "Do it", Value: "do"}, {Label: "Do it less", Value: "less"}}}
	}
	u := open(t, page, 80, 12).press("enter", "enter")
	u.sees(`
Go back to                                                                     5
  Session 1                             | Preview of c
    Write c                             | a line
>     v3 now                            | a line
    Write b                             | a line
      v2 1m                             | a line
  Session 2                             | ... and 8 lines more (J scrolls)

About c
> 1  Do it
  2  Do it less
enter choose · up/down · esc back
`)
	u.press("down", "enter").chose(&Result{ID: "c", Choice: "all", Answer: "less"})
	open(t, page, 80, 24).press("2", "enter").chose(&Result{ID: "c", Choice: "some"})
	u = open(t, page, 80, 24).press("enter", "enter", "esc")
	if u.left || u.m.result != nil || u.m.mode != inList {
		t.Errorf("Esc leads elsewhere: %+v", u.m)
	}
}

func TestMoreItemsAreLoadedAtTheEnd(t *testing.T) {
	t.Parallel()
	page := sample()
	loads := 0
	page.More = func(context.Context) ([]Item, error) {
		loads++
		items := page.Items
		for i := range 100 {
			items = append(items, Item{ID: fmt.Sprint("old", i), Label: fmt.Sprint("old ", i)})
		}
		return items, nil
	}
	u := open(t, page, 80, 24)
	if u.press("down"); loads != 0 || !strings.Contains(u.m.title(), "5 and more") {
		t.Errorf("%d loads, %q", loads, u.m.title())
	}
	if u.press("end", "end", "up", "end"); loads != 1 || u.m.list.count() != 105 {
		t.Errorf("%d loads, %d items", loads, u.m.list.count())
	}
	page.More = func(context.Context) ([]Item, error) { return nil, context.DeadlineExceeded }
	if u = open(t, page, 80, 24).press("end"); !strings.Contains(u.m.title(), "deadline") || u.m.list.count() != 5 {
		t.Errorf("%q", u.m.title())
	}
}
