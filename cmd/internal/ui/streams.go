// Package ui is the program's user interface: streams, colour, tables,
// times, progress, questions.
//
// Results are written to Out, everything else to Err. The package doesn't query the
// terminal before it shows a question, so that starting is cheap and a terminal that
// doesn't reply causes no delay. It doesn't depend on git, sessions or commands.
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

	"github.com/seed-3aff656d/entire/internal/plain"
)

// Streams holds the input and output streams and the properties of their terminal.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Terminal Terminal
	// Lines has JSON written as lines: one object, or each entry of a list and then its end.
	Lines bool
	// WroteJSON is set when JSON is written to Out. If it is nil, that isn't noted.
	WroteJSON *bool

	// Quiet suppresses notes, hints and progress.
	Quiet bool

	screen *output // the terminal on which Out will be shown, if it is another stream
}

// Into returns the streams with w as Out, for output that is later shown on s.Out. It keeps
// the width and the colours of s.Out.
func (s Streams) Into(w io.Writer) Streams {
	if o, isFile := s.Out.(*output); isFile {
		s.screen = o
	}
	s.Out = w
	return s
}

// Terminal describes which streams are terminals and the user's preferences. The zero value
// means no terminal.
type Terminal struct {
	In, Out, Err bool
	// Plain disables colours, Accessible selects questions as lines of text.
	Plain, Accessible bool
}

// Detect returns the Streams for the three files. It queries the system, not the terminal.
func Detect(in, out, errs *os.File, getenv func(string) string) Streams {
	is := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
	dumb := getenv("TERM") == "dumb"
	// A form needs space: on a terminal without a size, such as that of some recorders,
	// questions are lines of text.
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

// Style is a style for text on a terminal, the parameter of its escape sequence.
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

	Reverse Style = "7" // the colours of text and background swapped
)

// Paint returns text in a style, if Out is a terminal with colours.
func (s Streams) Paint(style Style, text string) string {
	return Painter{Plain: !s.painted()}.Paint(style, text)
}

// painted reports whether Paint uses styles.
func (s Streams) painted() bool { return s.Terminal.Out && !s.Terminal.Plain }

// Printf writes to Out. It escapes the text, also in a pipe, whose reader may be a terminal. If Out
// is a terminal and the text ends with a newline, it wraps it at words.
func (s Streams) Printf(format string, args ...any) {
	text := s.escape(fmt.Sprintf(format, args...))
	if strings.HasSuffix(text, "\n") {
		text = s.wrapOut(text)
	}
	_, _ = io.WriteString(s.Out, text)
}

// Shown returns a text as Printf writes it.
func (s Streams) Shown(text string) string { return s.wrapOut(s.escape(text)) }

// Notef writes a line to Err, escaped. If Err is a terminal, it wraps it at words.
func (s Streams) Notef(format string, args ...any) {
	if !s.Quiet {
		s.Errorf(format, args...)
	}
}

// Errorf writes a line to Err, even with Quiet.
func (s Streams) Errorf(format string, args ...any) {
	text := s.escape(fmt.Sprintf(format+"\n", args...))
	if s.Terminal.Err {
		width, _ := s.Size()
		text = WrapHanging(text, width)
	}
	_, _ = io.WriteString(s.Err, text)
}

// Hint writes a hint for solving a problem to Err.
func (s Streams) Hint(text string) { s.Notef("hint: %s", text) }

// schema is the version of the JSON that commands print; docs/formats/json.md describes
// when it changes.
const schema = 1

// JSON writes v to Out, indented, without HTML escapes and with escapes for hidden characters
// ([plain.JSON]). An object begins with the key "schema". With Lines it is the last line of a list.
func (s Streams) JSON(v any) error {
	if s.Lines {
		text, err := compact(v)
		if err != nil {
			return err
		}
		return s.writeEnd(text)
	}
	text, err := envelope(v)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return err
	}
	return s.writeJSON(out.Bytes())
}

// JSONLine is like JSON, but on one line.
func (s Streams) JSONLine(v any) error {
	text, err := envelope(v)
	if err != nil {
		return err
	}
	return s.writeJSON(text)
}

func (s Streams) writeJSON(text []byte) error {
	if s.WroteJSON != nil {
		*s.WroteJSON = true
	}
	_, err := s.Out.Write(text)
	return err
}

// envelope returns v as JSON, with the key "schema" if it is an object.
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

// compact returns v as JSON on one line, without HTML escapes and hidden characters.
func compact(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return plain.JSON(out.Bytes()), err
}

// Line makes text safe and short enough for one line: it folds white space, escapes the text, and
// cuts it to limit columns.
func Line(text string, limit int) string {
	text = Escape(strings.Join(strings.FieldsFunc(text, unicode.IsSpace), " "))
	if len(text) <= limit {
		return text
	}
	const longest = 16 // bytes per column: the rest of a very long text is not measured
	head := text[:min(len(text), max(limit, 0)*longest)]
	if len(head) == len(text) && Width(text) <= limit {
		return text
	}
	return ansi.Truncate(strings.ToValidUTF8(head, ""), max(limit-1, 0), "") + "…"
}

// Width returns the number of columns of a text, without its colours.
func Width(text string) int { return ansi.StringWidth(text) }
