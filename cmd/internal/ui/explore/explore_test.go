package explore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// turns is a source of rows that counts the rows that were read.
type turns struct {
	count  int
	read   int
	newest int // rows added since
	fails  error
	log    []string
}

const side = 150

func (s *turns) source() Source {
	return Source{s.window, s.refresh, s.glance, s.whole, s.why, s.blame, s.rewind, s.undo, s.show}
}

func (s *turns) window(_ context.Context, q Query, around string) (Window, error) {
	if s.fails != nil {
		return Window{}, s.fails
	}
	var list []int
	total := s.count + s.newest
	match := func(i int) bool {
		return (q.Words == "" || strings.Contains(strconv.Itoa(i), q.Words)) && (q.File == "" || i%2 == 0)
	}
	if q == (Query{}) {
		at := 0
		switch around {
		case First:
		case Last:
			at = total
		default:
			n, err := strconv.Atoi(around)
			if err != nil {
				return Window{}, err
			}
			at = total - 1 - n
		}
		from, to := max(at-side, 0), min(at+side, total)
		w := Window{At: min(at-from, to-from-1), Before: from, Total: total}
		for i := from; i < to; i++ {
			w.Rows = append(w.Rows, s.row(total-1-i))
		}
		s.read += len(w.Rows)
		return w, nil
	}
	for i := total - 1; i >= 0; i-- {
		if match(i) {
			list = append(list, i)
		}
	}
	w := Window{Total: len(list)}
	for _, i := range list[:min(len(list), 2*side)] {
		w.Rows = append(w.Rows, s.row(i))
	}
	return w, nil
}

func (s *turns) row(i int) Row {
	row := Row{ID: strconv.Itoa(i), When: "1h ago", Label: "turn " + strconv.Itoa(i), About: "+1 -1", Copy: "id" + strconv.Itoa(i)}
	if i%2 == 0 {
		row.Moments = []Moment{{"before", "v1"}, {"after", "v2"}}
	}
	return row
}

func (s *turns) refresh(context.Context) (bool, error) { return true, nil }

func (s *turns) glance(_ context.Context, id string, columns int) (Glance, error) {
	s.log = append(s.log, "glance "+id)
	return Glance{
		Changed: []Line{{Text: "head of " + id}, {Text: " kept", Place: Place{"a.go", 1, "kept"}}, {Text: "+new", Place: Place{"a.go", 2, "new"}, Changed: true}},
		Said:    []Line{{Text: fmt.Sprintf("said in %d columns", columns)}},
	}, nil
}

func (s *turns) whole(_ context.Context, id string, _ int) (Text, error) {
	t := Text{Title: "whole of " + id}
	for i := range 50 {
		t.Lines = append(t.Lines, Line{Text: fmt.Sprintf("line %d", i), Place: Place{"b.go", i + 1, ""}})
	}
	return t, nil
}

func (s *turns) why(_ context.Context, at Place, _ int) (Text, error) {
	return Text{Title: "why", Lines: []Line{{Text: fmt.Sprintf("%s:%d is there", at.File, at.Number)}}}, s.fails
}

func (s *turns) blame(_ context.Context, at Place, _ int) (Text, error) {
	return Text{Title: "blame", Lines: []Line{{Text: "of " + at.File}, {Text: "\x1b[1mhe\x1b[0mre"}}, Find: "here"}, nil
}

func (s *turns) rewind(_ context.Context, moment string, _ io.Reader, _ io.Writer) error {
	s.log = append(s.log, "rewind "+moment)
	return nil
}

func (s *turns) undo(context.Context, io.Reader, io.Writer) error {
	s.log = append(s.log, "undo")
	return nil
}

func (s *turns) show(_ context.Context, id string, _ io.Writer) error {
	s.log = append(s.log, "show "+id)
	return nil
}

// user presses keys and runs the resulting commands.
type user struct {
	testing.TB

	m    *model
	left bool
}

func open(t *testing.T, s *turns, width, height int) *user {
	t.Helper()
	u := &user{TB: t, m: newModel(t.Context(), "Turns", s.source(), Query{})}
	u.m.Plain, u.m.width, u.m.height = true, width, height
	u.run(u.m.load(First))
	return u
}

// run runs a command and those that result from it, except refreshes, which would never end.
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
	case refreshDue:
	default:
		_, next := u.m.Update(msg)
		u.run(next)
	}
}

func (u *user) press(keys ...string) *user {
	for _, key := range keys {
		msg := tea.KeyPressMsg{}
		switch key {
		case "enter":
			msg.Code = tea.KeyEnter
		case "esc":
			msg.Code = tea.KeyEscape
		case "up":
			msg.Code = tea.KeyUp
		case "down":
			msg.Code = tea.KeyDown
		case "pgdown":
			msg.Code = tea.KeyPgDown
		case "pgup":
			msg.Code = tea.KeyPgUp
		case "home":
			msg.Code = tea.KeyHome
		case "end":
			msg.Code = tea.KeyEnd
		case "backspace":
			msg.Code = tea.KeyBackspace
		default:
			msg.Text, msg.Code = key, []rune(key)[0]
		}
		_, cmd := u.m.Update(msg)
		u.run(cmd)
	}
	return u
}

func (u *user) sees(texts ...string) *user {
	u.Helper()
	shown := screen{u.m}.render()
	for _, text := range texts {
		if !strings.Contains(shown, text) {
			u.Errorf("%q isn't on the screen:\n%s", text, shown)
		}
	}
	lines := strings.Split(shown, "\n")
	if len(lines) != u.m.height {
		u.Errorf("%d lines on a screen of %d:\n%s", len(lines), u.m.height, shown)
	}
	for _, line := range lines {
		if width := ansi.StringWidth(line); width > u.m.width {
			u.Errorf("%d columns on a screen of %d: %q", width, u.m.width, line)
		}
	}
	return u
}

// Of 100,000 rows only those shown and some around them are read.
func TestRowsAreReadOnDemand(t *testing.T) {
	t.Parallel()
	s := &turns{count: 100_000}
	u := open(t, s, 120, 40).sees("> 1h ago   turn 99999", "1 of 100000", "head of 99999", "+new", "said in 69 columns")
	for range 20 {
		u.press("pgdown")
	}
	u.sees("> 1h ago   turn 99259", "741 of 100000")
	u.press("end").sees("> 1h ago   turn 0", "100000 of 100000")
	u.press("pgup", "up").sees("> 1h ago   turn 38", "99962 of 100000")
	u.press("home").sees("turn 99999", "1 of 100000")
	for range 5 {
		u.press("j")
	}
	u.sees("turn 99994", "6 of 100000")
	if s.read > 6000 {
		t.Errorf("%d rows were read", s.read)
	}
}

// A terminal of any size from 60 columns on shows the title, the list, the row's changes and texts,
// and the keys.
func TestSizes(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{60, 20}, {80, 24}, {120, 40}, {250, 80}, {20, 5}, {1, 1}} {
		u := open(t, &turns{count: 500}, size[0], size[1])
		if size[0] < 60 {
			u.sees()
			continue
		}
		u.sees("Turns", "1 of 500", "> 1h ago", "head of 499", "said in", "enter open")
		u.press("enter").sees("whole of 499", "line 0", "q back").press("q")
		_, cmd := u.m.Update(tea.WindowSizeMsg{Width: 70, Height: 21})
		u.run(cmd)
		u.sees("> 1h ago", "head of 499", "said in 70 columns")
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	s := &turns{count: 500}
	u := open(t, s, 100, 30)
	u.press("enter").sees("whole of 499", "> line 0", "1 of 50").press("down", "w").sees("why", "b.go:2 is there").press("q")
	u.press("b").sees("blame", "> here").press("esc").press("/").press("l", "i", "n", "e", " ", "7", "enter").sees("> line 7")
	u.press("n").sees("> line 7").press("/", "z", "enter").sees("Nothing is found.").press("end").sees("> line 49").press("esc")
	u.press("w").sees("a.go:2 is there").press("q").press("b").sees("of a.go").press("q")
	u.press("r").sees("There is no snapshot").press("down", "r").sees("Rewind to: 1 before · 2 after").press("x").sees("enter open")
	u.press("y").sees("Copied id498")
	u.press("?").sees("Keys", "undo the last rewind").press("q")
	u.press("/", "4", "9", "7").sees("/497_", "1 of 1", "turn 497").press("backspace").sees("of 15").press("enter").sees("/49 ").press("esc").sees("1 of 500")
	u.press("f", "a").sees("file: a_", "of 250").press("esc").sees("1 of 500")
	u.press("/", "x").sees("none", "nothing matches").press("w", "esc").sees("1 of 500")
	if u.left {
		t.Error("left too early")
	}
	if u.press("q"); !u.left {
		t.Error("q doesn't leave")
	}
	if u = open(t, s, 100, 30).press("esc"); !u.left {
		t.Error("esc doesn't leave")
	}
}

// New rows move the list only if the cursor is on the newest row.
func TestNewRows(t *testing.T) {
	t.Parallel()
	s := &turns{count: 500}
	u := open(t, s, 100, 30)
	s.newest = 3
	u.run(u.m.renew(refreshed{changed: true}))
	u.sees("> 1h ago   turn 502", "1 of 503")
	u.press("down", "down")
	s.newest = 5
	u.run(u.m.renew(refreshed{changed: true}))
	u.sees("> 1h ago   turn 500", "5 of 505")
}

// Texts of rows and pages are escaped on the terminal.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	const hostile = "\x1b]52;c;eA==\x07\x1b[2Jturn\u202e"
	source := (&turns{count: 1}).source()
	source.Window = func(context.Context, Query, string) (Window, error) {
		return Window{Rows: []Row{{ID: "1", When: hostile, Label: hostile, About: hostile, Moments: []Moment{{hostile, "v1"}}}}, Total: 1}, nil
	}
	lines := []Line{{Text: hostile}, {Text: "\x1b[32mgreen\x1b[0m"}}
	source.Glance = func(context.Context, string, int) (Glance, error) { return Glance{lines, lines}, nil }
	source.Whole = func(context.Context, string, int) (Text, error) { return Text{Title: hostile, Lines: lines}, nil }
	u := &user{TB: t, m: newModel(t.Context(), "Turns", source, Query{Words: hostile, File: hostile})}
	u.m.Plain, u.m.width, u.m.height = true, 200, 30
	u.run(u.m.load(First))
	check := func() {
		t.Helper()
		shown := strings.NewReplacer("\x1b[32m", "", "\x1b[0m", "").Replace(screen{u.m}.render())
		if strings.ContainsAny(shown, "\x1b\x07\u202e") || !strings.Contains(shown, "turn") {
			t.Errorf("%q", shown)
		}
	}
	check()
	u.press("r")
	check()
	u.press("x", "enter")
	check()
}

func TestFailuresAreShown(t *testing.T) {
	t.Parallel()
	s := &turns{count: 5}
	u := open(t, s, 100, 30)
	s.fails = errors.New("the index is in use\x1b[31m")
	u.press("/", "1").sees("the index is in use")
	if strings.Contains(screen{u.m}.render(), "\x1b") {
		t.Error("an error reaches the terminal as it is")
	}
	s.fails = nil
	u.press("esc").sees("1 of 5")
	s.fails = errors.New("no such line")
	u.press("w").sees("no such line")
}
