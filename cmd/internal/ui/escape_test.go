package ui_test

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

const hostile = "a\x1b]0;t\x07\r\x7f\u009b\u202e\u2066\u061c\u2028 \x9b \t\n\r\nb é 世"

func TestAttackEscape(t *testing.T) {
	t.Parallel()
	want := `a\u001b]0;t\u0007\u000d\u007f\u009b\u202e\u2066\u061c\u2028 \x9b ` + "\t\n\nb é 世"
	if got := ui.Escape(hostile); got != want {
		t.Errorf("got %q", got)
	}
	if got := ui.EscapePainted("\x1b[31mred\x1b[0m \x1b[2J"); got != "\x1b[31mred\x1b[0m \\u001b[2J" {
		t.Errorf("got %q", got)
	}
}

// On a terminal everything is escaped, in pieces of any length. Other output is not changed.
func TestAttackShow(t *testing.T) {
	t.Parallel()
	for size := 1; size < len(hostile); size++ {
		var out bytes.Buffer
		s := ui.Streams{Out: &out, Terminal: ui.Terminal{Out: true}}
		inPieces := func(w io.Writer) error {
			for rest := hostile; rest != ""; {
				n := min(size, len(rest))
				if _, err := io.WriteString(w, rest[:n]); err != nil {
					return err
				}
				rest = rest[n:]
			}
			return nil
		}
		if err := s.Show(inPieces); err != nil || out.String() != ui.Escape(hostile) {
			t.Errorf("pieces of %d: %q, %v", size, out.String(), err)
		}
		out.Reset()
		s.Terminal.Out = false
		if err := s.Show(inPieces); err != nil || out.String() != hostile {
			t.Errorf("not on a terminal: %q, %v", out.String(), err)
		}
	}
}

// JSON is valid and has the same value, whether Out is a terminal or not.
func TestAttackJSON(t *testing.T) {
	t.Parallel()
	in := map[string]any{"k" + strings.ToValidUTF8(hostile, ""): strings.ToValidUTF8(hostile, "")}
	var out bytes.Buffer
	s := ui.Streams{Out: &out}
	if err := s.JSON(in); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\x7f\u009b\u202e\u2066\u061c") {
		t.Errorf("%q", out.String())
	}
	var back map[string]any
	err := json.Unmarshal(out.Bytes(), &back)
	delete(back, "schema")
	if err != nil || !reflect.DeepEqual(in, back) {
		t.Errorf("%v, %v", back, err)
	}
}

// A message is escaped whether it is shown on a terminal or not. Styles are kept only if the program
// uses any.
func TestAttackMessages(t *testing.T) {
	t.Parallel()
	for want, terminal := range map[string]ui.Terminal{
		"a \\u001b[31mb\n":     {},
		"a \\u001b[31mb \n":    {Out: true, Err: true, Plain: true},
		"a \x1b[31mb\\u009b\n": {Out: true, Err: true},
	} {
		text := "a \x1b[31mb"
		switch {
		case terminal.Plain:
			text += " "
		case terminal.Out:
			text += "\u009b"
		}
		var out, errs bytes.Buffer
		s := ui.Streams{Out: &out, Err: &errs, Terminal: terminal}
		s.Printf("%s\n", text)
		s.Notef("%s", text)
		if out.String() != want || errs.String() != want {
			t.Errorf("%q and %q, want %q", out.String(), errs.String(), want)
		}
	}
}
