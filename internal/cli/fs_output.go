package cli

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/internal/ui"
)

// messageWidth is how much of a message a line of a table shows.
const messageWidth = 60

// fsTable is a table with wider gaps than ui's: three spaces behind the first
// column, four behind the others.
type fsTable struct{ table ui.Table }

func (t *fsTable) row(cells ...string) {
	for i := range cells[:len(cells)-1] {
		cells[i] += "  "
	}
	cells[0] = strings.TrimSuffix(cells[0], " ")
	t.table.Row(cells...)
}

func (t *fsTable) String() string { return t.table.String() }

// compact prints v as JSON on one line, with < and > as they are.
func (f *fsApp) compact(v any) error {
	return f.Streams.JSONLine(v)
}

// say prints a stage or an outcome; a program that reads JSON gets neither.
func (f *fsApp) say(format string, args ...any) {
	if !f.json {
		f.Streams.Printf(format+"\n", args...)
	}
}

// shortPath is a path as people write it, with ~ for their home.
func (f *fsApp) shortPath(path string) string {
	if f.Home == "" || f.Home == string(filepath.Separator) {
		return showPath(path)
	}
	homes := []string{f.Home}
	if home, err := filepath.EvalSymlinks(f.Home); err == nil {
		homes = append(homes, home)
	}
	for _, home := range homes {
		if rest, ok := strings.CutPrefix(path, home); ok && (rest == "" || rest[0] == filepath.Separator) {
			return showPath("~" + rest)
		}
	}
	return showPath(path)
}

// showPath is a path on a terminal: in quotes if it has what a terminal could
// take for a command, or what isn't text.
func showPath(path string) string {
	bad := func(r rune) bool { return !unicode.IsPrint(r) }
	if utf8.ValidString(path) && strings.IndexFunc(path, bad) < 0 {
		return path
	}
	return strconv.Quote(path)
}

// quoteMessage is a message in the quotes of `Created v4 "before"`, with a
// space before them; nothing for an empty one.
func quoteMessage(message string) string {
	if message == "" {
		return ""
	}
	return ` "` + ui.Line(message, messageWidth*2) + `"`
}

// took is a duration in the brackets of `(19ms)`.
func took(d time.Duration) string {
	if d < 10*time.Second {
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	}
	return fmt.Sprintf("%.1fs", d.Seconds())
}

// shortSize is a number of bytes in at most four characters and a unit: 50G,
// 1.5G, 812K. Units count in 1024.
func shortSize(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + "B"
	}
	value, unit := float64(n), 0
	const units = "KMGTPE"
	for value /= 1024; value >= 1023.5 && unit < len(units)-1; value /= 1024 {
		unit++
	}
	if text := strconv.FormatFloat(value, 'f', 1, 64); value < 10 && !strings.HasSuffix(text, ".0") {
		return text + units[unit:unit+1]
	}
	return strconv.FormatFloat(value, 'f', 0, 64) + units[unit:unit+1]
}

// utc is a time in JSON: RFC 3339, seconds.
func utc(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// yesNoWord is a truth in a table.
func yesNoWord(is bool) string {
	if is {
		return "Yes"
	}
	return "No"
}
