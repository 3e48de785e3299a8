// Package ui is the program's user interface: streams, colour, tables,
// times, progress, questions.
//
// Results go to Out, everything else to Err. Nothing here asks the terminal
// anything before a question is really shown, so that a start costs nothing and
// a terminal that doesn't reply causes no delay. It doesn't depend on git,
// sessions or commands.
package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// Streams is where input comes from and output goes, and what is known of the
// terminal behind them.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Terminal Terminal

	screen *output // the terminal on which Out will be shown, if Out isn't that itself
}

// Into is the streams with another Out, to which is written what Out shows later: its width
// and colours stay.
func (s Streams) Into(w io.Writer) Streams {
	if o, isFile := s.Out.(*output); isFile {
		s.screen = o
	}
	s.Out = w
	return s
}

// Terminal describes which streams are terminals and what their user wants. The
// zero value is no terminal at all.
type Terminal struct {
	In, Out, Err bool
	// Plain is for no colour, Accessible for questions as lines of text.
	Plain, Accessible bool
}

// Detect describes the three files. It asks the system, not the terminal.
func Detect(in, out, errs *os.File, getenv func(string) string) Streams {
	is := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
	dumb := getenv("TERM") == "dumb"
	// A form needs room: a terminal without a size, such as that of a recorder
	// which has none itself, gets questions as lines.
	width, height, err := term.GetSize(int(errs.Fd()))
	sizeless := err == nil && width*height == 0
	return Streams{
		In: in, Out: &output{file: out}, Err: errs,
		Terminal: Terminal{
			In: is(in), Out: is(out), Err: is(errs),
			Plain:      dumb || getenv("NO_COLOR") != "",
			Accessible: dumb || sizeless || getenv("ACCESSIBLE") != "",
		},
	}
}

// Style is a way to set text off.
type Style string

// The styles.
const (
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Blue   Style = "34"

	Magenta Style = "35"
	Cyan    Style = "36"
)

// Paint sets text off on Out, if that is a terminal with colours.
func (s Streams) Paint(style Style, text string) string {
	if !s.Terminal.Out || s.Terminal.Plain || text == "" || style == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// Printf writes to Out; if that is a terminal, escaped and, of whole lines, broken at words.
func (s Streams) Printf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s.Terminal.Out {
		text = escape(text, ownColours)
	}
	if strings.HasSuffix(text, "\n") {
		text = s.WrapOut(text)
	}
	_, _ = io.WriteString(s.Out, text)
}

// Notef writes a line to Err; if that is a terminal, escaped and broken at words.
func (s Streams) Notef(format string, args ...any) {
	text := fmt.Sprintf(format+"\n", args...)
	if s.Terminal.Err {
		width, _ := s.Size()
		text = Wrap(escape(text, ownColours), width)
	}
	_, _ = io.WriteString(s.Err, text)
}

// Hint writes what the user can do about a problem to Err.
func (s Streams) Hint(text string) { s.Notef("hint: %s", text) }

// schema is the version of the JSON that commands print; docs/formats/json.md describes
// what changes it.
const schema = 1

// JSON writes v to Out, indented, with < and > as they are. An object begins with the
// key "schema".
func (s Streams) JSON(v any) error {
	text, err := envelope(v)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return err
	}
	return writeJSON(s, out.Bytes())
}

// JSONLine is JSON on one line.
func (s Streams) JSONLine(v any) error {
	text, err := envelope(v)
	if err != nil {
		return err
	}
	return writeJSON(s, text)
}

func writeJSON(s Streams, text []byte) error {
	return s.Show(func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// envelope is v as JSON, with the key "schema" if it is an object.
func envelope(v any) ([]byte, error) {
	text, err := compact(v)
	if err != nil {
		return nil, err
	}
	fields, isObject := bytes.CutPrefix(text, []byte("{"))
	if !isObject {
		return text, nil
	}
	first := fmt.Sprintf(`{"schema":%d,`, schema)
	if bytes.Equal(bytes.TrimSpace(fields), []byte("}")) {
		first = strings.TrimSuffix(first, ",")
	}
	return append([]byte(first), fields...), nil
}

// compact is v as JSON on one line, with < and > as they are.
func compact(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return out.Bytes(), err
}

// Line makes text safe and short enough for one line: white space is folded,
// what a terminal could take for a command is left out, and beyond limit
// columns it is cut.
func Line(text string, limit int) string {
	text = strings.Join(strings.FieldsFunc(text, unicode.IsSpace), " ")
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	if len(text) <= limit {
		return text
	}
	const longest = 16 // bytes for each column: of very long texts the rest is not measured
	head := text[:min(len(text), max(limit, 0)*longest)]
	if len(head) == len(text) && Width(text) <= limit {
		return text
	}
	return ansi.Truncate(strings.ToValidUTF8(head, ""), max(limit-1, 0), "") + "…"
}

// Width is how many columns a text takes, without its colours.
func Width(text string) int { return ansi.StringWidth(text) }
