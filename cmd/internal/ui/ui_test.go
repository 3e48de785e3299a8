package ui_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

func TestTable(t *testing.T) {
	t.Parallel()
	var table ui.Table
	table.AddRow("a", "bcd", "")
	table.AddRow("ünï", "x", "y")
	if d := cmp.Diff("a    bcd\nünï  x    y\n", table.String()); d != "" {
		t.Error(d)
	}
}

func TestAgo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		-time.Hour: "just now", 59 * time.Second: "just now", 5 * time.Minute: "5m ago", 23 * time.Hour: "23h ago", 49 * time.Hour: "2d ago",
	} {
		if got := ui.Ago(now, now.Add(-d)); got != want {
			t.Errorf("%v: %s", d, got)
		}
	}
	for days, want := range map[int]string{0: "today", 1: "yesterday", 3: "Tuesday", 6: "Saturday", 7: "13 November 2026"} {
		if got := ui.Since(now, now.AddDate(0, 0, -days)); got != want {
			t.Errorf("%d days: %s", days, got)
		}
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\ta\n b\n":                "a b",
		"\x1b]0;t\aplain":          `\u001b]0;…`,
		"x\u202ey":                 `x\u202ey`,
		"abcdefghijk":              "abcdefghi…",
		"\xff\xfeA":                `\xff\xfeA`,
		strings.Repeat("é", 9):     strings.Repeat("é", 9),
		"日本語テスト":                   "日本語テ…",
		"日本語 テス":                   "日本語 テ…",
		"日本語テス":                    "日本語テス",
		"🎉🎉🎉🎉🎉🎉":                   "🎉🎉🎉🎉…",
		"e\u0301e\u0301e\u0301":    "e\u0301e\u0301e\u0301",
		strings.Repeat("日", 99999): "日日日日…",
	} {
		if got := ui.Line(text, 10); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestPaint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		terminal ui.Terminal
		want     string
	}{
		{ui.Terminal{}, "x"},
		{ui.Terminal{Out: true}, "\x1b[31mx\x1b[0m"},
		{ui.Terminal{Out: true, Plain: true}, "x"},
		{ui.Terminal{Err: true}, "x"},
	} {
		if got := (ui.Streams{Terminal: c.terminal}).Paint(ui.Red, "x"); got != c.want {
			t.Errorf("%+v: %q", c.terminal, got)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := (ui.Streams{Out: &out}).JSON(map[string]string{"a": "<&>"}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("{\n  \"schema\": 1,\n  \"a\": \"<&>\"\n}\n", out.String()); d != "" {
		t.Error(d)
	}
}

func TestProgressOfAQuickStepIsSilent(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := ui.Streams{Err: &out, Terminal: ui.Terminal{Err: true}}
	want := errors.New("x")
	if err := s.Progress("Working", func() error { return want }); !errors.Is(err, want) || out.Len() > 0 {
		t.Errorf("%v %q", err, out.String())
	}
}

func TestTableFitsATerminal(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 90)
	table := func(size int, spare ...string) *ui.Table {
		t := &ui.Table{Spare: spare}
		t.AddRow("ID", "SIZE", "TEXT")
		t.AddRow("1", strings.Repeat("9", size), text)
		return t
	}
	onTerminal := ui.Streams{Terminal: ui.Terminal{Out: true}} // 80 columns by default
	middle := &ui.Table{First: 3, Gap: 4, Cut: "TEXT"}
	middle.AddRow("ID", "TEXT", "WHEN")
	middle.AddRow("1", text, "now")
	for _, c := range []struct{ name, got, want string }{
		{"nothing in a pipe", ui.Streams{}.Table(table(60, "SIZE")), table(60).String()},
		{"the last column", onTerminal.Table(table(6, "SIZE")), "ID  SIZE    TEXT\n1   999999  " + text[:67] + "…\n"},
		{"a column that can be spared", onTerminal.Table(table(60, "SIZE")), "ID  TEXT\n1   " + text[:75] + "…\n"},
		{"no other", onTerminal.Table(table(60)), "ID  SIZE" + strings.Repeat(" ", 58) + "TEXT\n1   " + strings.Repeat("9", 60) + "  " + text[:13] + "…\n"},
		{"a column in the middle", onTerminal.Table(middle), "ID   TEXT" + strings.Repeat(" ", 67) + "WHEN\n1    " + text[:66] + "…    now\n"},
		{"no rows", onTerminal.Table(&ui.Table{Spare: []string{"SIZE"}}), ""},
	} {
		if d := cmp.Diff(c.want, c.got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}
