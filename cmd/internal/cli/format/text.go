// Package format prints and encodes the data that several commands show: paths, sizes, ids, plans
// and checkpoints, as text and as JSON.
package format

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// MessageWidth is the width to which a message in a table is cut.
const MessageWidth = 60

// Path returns a path for a terminal: quoted if it has unprintable characters or isn't valid UTF-8.
func Path(path string) string {
	bad := func(r rune) bool { return !unicode.IsPrint(r) }
	if utf8.ValidString(path) && strings.IndexFunc(path, bad) < 0 {
		return path
	}
	return strconv.Quote(path)
}

// Quoted returns a message in the quotes of `Created v4 "before"`, with a space before them; "" for
// an empty message.
func Quoted(message string) string {
	if message == "" {
		return ""
	}
	return ` "` + ui.Line(message, MessageWidth*2) + `"`
}

// Took formats a duration for the parentheses of `(19ms)`.
func Took(d time.Duration) string {
	if d < 10*time.Second {
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	}
	return fmt.Sprintf("%.1fs", d.Seconds())
}

// Size calls [ui.Size].
func Size(n int64) string { return ui.Size(n) }

// UTC returns a time for JSON: in UTC, truncated to seconds.
func UTC(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// ID returns the first 7 characters of an id, and the whole name of a version and a ULID, as ULIDs of
// one time begin alike.
func ID(id string) string {
	const digits = 7
	if name, err := checkpoint.ParseID(id); err == nil && name.IsULID() {
		return id
	}
	if len(id) > digits && id[0] != 'v' {
		return id[:digits]
	}
	return id
}

// Sessions lists sessions by unique prefixes of their ids.
func Sessions(ids []string) string { return strings.Join(UniqueSessions(ids), ", ") }

// SessionNames returns a function that returns the unique prefixes of the ids.
func SessionNames(ids []string) func(id string) string {
	names := map[string]string{}
	for i, name := range UniqueSessions(ids) {
		names[ids[i]] = name
	}
	return func(id string) string { return names[id] }
}

const (
	// sessionDigits is the number of characters of a session's id that are shown, timeDigits that of
	// an id that begins with a time, after which most ids differ.
	sessionDigits = 7
	timeDigits    = 16
)

// Session returns a prefix of the id of a session that is shown without others. It is unique in most
// cases: it is longer if ids of this form begin alike, as those of OpenCode and UUIDs of version 7.
func Session(id string) string {
	id = transcript.SessionID(id)
	const version = 14 // the place of the version in a UUID
	isRandom := len(id) > version && id[version] != '7' && strings.Trim(id[:version], "0123456789abcdef-") == ""
	if isRandom || strings.Trim(id, "0123456789abcdef-") == "" && len(id) <= version {
		return sessionPrefix(id, sessionDigits)
	}
	return strings.TrimRight(sessionPrefix(id, timeDigits), "-")
}

// sessionPrefix returns the beginning of a session's id, without the date with which the ids of
// some versions begin.
func sessionPrefix(id string, digits int) string {
	runes := []rune(ui.Line(transcript.SessionID(id), MaxNameWidth))
	return string(runes[:min(len(runes), digits)])
}

// UniqueSessions returns prefixes of sessions' ids, each as short as that of [Session], or as long
// as necessary to differ from the other ids.
func UniqueSessions(ids []string) []string {
	whole := make([]string, len(ids))
	for i, id := range ids {
		whole[i] = sessionPrefix(id, MaxNameWidth)
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(whole)))
	short := make([]string, len(ids))
	for i, id := range whole {
		at, _ := slices.BinarySearch(sorted, id)
		digits := sessionDigits
		for _, other := range sorted[max(at-1, 0):min(at+2, len(sorted))] {
			if other != id {
				digits = max(digits, sharedRunes(id, other)+1)
			}
		}
		short[i] = sessionPrefix(ids[i], digits)
	}
	return short
}

// sharedRunes returns the length of the common prefix of two texts, in runes.
func sharedRunes(a, b string) int {
	x, y := []rune(a), []rune(b)
	n := 0
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return n
}

// Widths of texts in lists and details: a prompt, a commit's subject, a name.
const (
	ListedWidth  = 60
	SubjectWidth = 72
	NameWidth    = 120
)

// WrittenBy describes the agents' part of a commit in a few words: of the added lines, and of those
// that were removed without a replacement. It is empty if the commit changes no line.
func WrittenBy(a checkpoint.Attribution) string {
	var parts []string
	if a.TotalCommitted > 0 {
		of := ui.Plural(a.TotalCommitted, "line")
		if a.UnknownLines > 0 {
			parts = append(parts, fmt.Sprintf("agent wrote at least %d %% (%d of %s, %d not recorded)", int(a.AgentPercentage), a.AgentLines, of, a.UnknownLines))
		} else {
			parts = append(parts, fmt.Sprintf("agent wrote %.0f %% (%d of %s)", a.AgentPercentage, a.AgentLines, of))
		}
	}
	if removed := a.AgentRemoved + a.HumanRemoved; removed > 0 && (a.AgentRemoved > 0 || a.TotalCommitted == 0) {
		text := fmt.Sprintf("removed %d of %s", a.AgentRemoved, ui.Plural(removed, "line"))
		if len(parts) == 0 {
			text = "agent " + text
		}
		parts = append(parts, text)
	}
	if files := a.AgentFiles + a.HumanFiles; len(parts) == 0 && files > 0 {
		parts = append(parts, fmt.Sprintf("agent changed %d of %s", a.AgentFiles, ui.Plural(files, "binary file")))
	}
	return strings.Join(parts, ", ")
}

// AbsentHint is the hint for checkpoints whose contents are not in this clone.
const AbsentHint = "`entire fetch` fetches missing contents from the remote; `entire doctor` lists missing objects"

// LineWidth is the maximum width of a text of unknown origin.
const LineWidth = 400

// Capitalize returns text with its first letter in upper case.
func Capitalize(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[size:]
}

// PathBytes returns a path that isn't valid UTF-8, for JSON; nil for any other.
func PathBytes(path string) []byte {
	if utf8.ValidString(path) {
		return nil
	}
	return []byte(path)
}

// NotNil returns list, or an empty list for nil, which JSON encodes as null.
func NotNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// PersonWidth is the maximum width of a person's name in a table.
const PersonWidth = 24

// HasSeveral reports whether there are several different names, apart from empty ones.
func HasSeveral(names ...string) bool {
	first := ""
	for _, name := range names {
		if name != "" && first != "" && name != first {
			return true
		}
		first = cmp.Or(first, name)
	}
	return false
}

// PromptWidth is the maximum width of a prompt in the list of sessions.
const PromptWidth = 70

// MaxNameWidth is the maximum width of a name in the list of orphaned items.
const MaxNameWidth = 200

const (
	// KeyWidth is the width to which a key of the project's settings is cut in messages.
	KeyWidth = 80
	// ValueWidth is the same for a value.
	ValueWidth = 200
)

// TooLargeHint is the hint if a part of a checkpoint is too large to be read.
const TooLargeHint = "part of it is too large to read"
