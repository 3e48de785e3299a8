package report_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/cmd/internal/report"
	hidden "github.com/seed-3aff656d/entire/internal/plain"
)

func html(tb testing.TB, r *report.Report) string {
	tb.Helper()
	var b strings.Builder
	if err := report.WriteHTML(&b, r); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func markdown(tb testing.TB, r *report.Report) string {
	tb.Helper()
	var b strings.Builder
	if err := report.WriteMarkdown(&b, r); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// plain returns a text of the same length and with the same spaces that can't be markup.
func plain(text string) string {
	b := []byte(text)
	for i := range b {
		if !strings.ContainsRune(" \t\n\v\f\r", rune(b[i])) {
			b[i] = 'x'
		}
	}
	return string(b)
}

// marks returns the tags of a page, with the names of their attributes.
func marks(page string) []string {
	return regexp.MustCompile(`<[^>]*`).FindAllString(regexp.MustCompile(`="[^"]*"`).ReplaceAllString(page, "="), -1)
}

// checkMarkup checks that a page of a hostile text has the same markup as one of a plain text.
func checkMarkup(t *testing.T, text string) {
	t.Helper()
	const short = 200 // no text is cut
	if text = text[:min(len(text), short)]; strings.TrimSpace(text) == "" {
		return
	}
	page, want := html(t, example(text)), html(t, example(plain(text)))
	if diff := cmp.Diff(marks(want), marks(page)); diff != "" {
		t.Errorf("%q is markup:\n%s", text, diff)
	}
	if strings.ContainsAny(page, "\x00\x1b\u202e\u2066") {
		t.Errorf("%q is on the page with what can't be seen", text)
	}
}

func TestHostileTextIsText(t *testing.T) {
	t.Parallel()
	for _, text := range hostile() {
		checkMarkup(t, text)
	}
}

// Commits without a link, which only a range has, are told apart.
func TestLinkedCommitsAreCounted(t *testing.T) {
	t.Parallel()
	r := example("words") // a commit with a checkpoint, and one without
	for _, want := range []struct{ page, text string }{
		{"<dt>Commits</dt><dd>2 <small>1 linked, ", "2 commits (1 linked)\n"},
		{"<dt>Linked commits</dt><dd>1 <small>+", "1 linked commit\n"},
	} {
		var page, text strings.Builder
		if err := errors.Join(report.WriteHTML(&page, r), report.WriteMarkdown(&text, r)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(page.String(), want.page) || !strings.Contains(text.String(), want.text) {
			t.Errorf("not %q, or not %q", want.page, want.text)
		}
		r.Commits = r.Commits[:1]
	}
}

func FuzzHTML(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text)
	}
	f.Fuzz(checkMarkup)
}

// No text of a report becomes HTML, a link or a mention in Markdown; and what is rendered of it is
// the text, without characters that can't be seen.
func FuzzMarkdown(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text)
	}
	for _, text := range []string{
		"list: add @everyone #1", "mail ada@example.com, see https://example.com/a?b=c&d", "www.example.com", "fix GH-12 and org/repo#3", "revert 0f3a9c1d", ":tada: a:b",
		"!12 $34 %5 &6 ~bug ^alert", "a|b `c|d` e\\|f@g", "1. one", "12) two", "- three", "# four", "+ five", "=== six", "> seven", "---", "***", "~~no~~ $x$ &amp; [a](b) ![c](d) <e>",
		"``` ` ``", "`@a`", "\\|@x|", "snake_case_name *.go a*b", "名前@例 \u2060x",
	} {
		f.Add(text)
	}
	own := strings.NewReplacer("<details>", "", "</details>", "", "<summary>", "", "</summary>", "", "<sub>", "", "</sub>", "")
	f.Fuzz(func(t *testing.T, text string) {
		const short = 100 // no text is cut
		text = text[:min(len(text), short)]
		page := markdown(t, example(text))
		if found := regexp.MustCompile(`(^|[^\\])<|@|[a-z]://|(?i:www\.)`).FindString(withoutCode(own.Replace(page))); found != "" {
			t.Errorf("%q becomes %q in\n%s", text, found, page)
		}
		if strings.ContainsFunc(page, func(r rune) bool { return r != '\n' && hidden.IsHidden(r) }) {
			t.Errorf("%q: there is what can't be seen in\n%s", text, page)
		}
		line := func(text string) string { return hidden.Visible(strings.Join(strings.Fields(text), " ")) }
		if m := regexp.MustCompile(`(?m)^1\. (.*) {2}$`).FindStringSubmatch(page); m == nil || rendered(m[1]) != line("t "+text) {
			t.Errorf("%q is rendered as %q", line("t "+text), m)
		}
		row := regexp.MustCompile(`(?m)^\| 0123456 \| ((?:[^|\\]|\\.)*) \| \d+ \|`).FindStringSubmatch(page)
		if row == nil || rendered(strings.ReplaceAll(row[1], `\|`, "|")) != line(text) {
			t.Errorf("%q is rendered as %q in a table", line(text), row)
		}
		path := regexp.MustCompile(`(?m)^\| ((?:[^|\\]|\\.)*) \| 3 \|`).FindStringSubmatch(page)
		if path == nil || rendered(strings.ReplaceAll(path[1], `\|`, "|")) != line(text) {
			t.Errorf("the path %q is rendered as %q", line(text), path)
		}
	})
}

var (
	codeSpan = regexp.MustCompile("^`+")
	comment  = "<!-- -->"
)

// pieces calls the functions with the texts in Markdown of one line between spans of code, and with
// the contents of these.
func pieces(line string, text func(byte), code func(string)) {
	for line != "" {
		fence := codeSpan.FindString(line)
		end := -1
		for at := len(fence); fence != "" && at < len(line); {
			if next := strings.IndexByte(line[at:], '`'); next < 0 {
				break
			} else if at += next; codeSpan.FindString(line[at:]) == fence {
				end = at
				break
			}
			at += len(codeSpan.FindString(line[at:]))
		}
		switch {
		case end >= 0:
			code(line[len(fence):end])
			line = line[end+len(fence):]
		case strings.HasPrefix(line, comment):
			line = line[len(comment):]
		default:
			n := 1
			if line[0] == '\\' && len(line) > 1 {
				n = 2
			}
			for _, c := range []byte(line[:n]) {
				text(c)
			}
			line = line[n:]
		}
	}
}

// rendered returns what is shown of Markdown of one line that has only backslashes, spans of code and
// empty comments.
func rendered(line string) string {
	var b strings.Builder
	escaped := false
	pieces(line, func(c byte) {
		if escaped = c == '\\' && !escaped; !escaped {
			b.WriteByte(c)
		}
	}, func(s string) {
		if strings.HasPrefix(s, " ") && strings.HasSuffix(s, " ") && strings.Trim(s, " ") != "" {
			s = s[1 : len(s)-1]
		}
		b.WriteString(s)
	})
	return b.String()
}

// withoutCode returns Markdown without its spans of code.
func withoutCode(page string) string {
	var b strings.Builder
	for line := range strings.Lines(page) {
		pieces(line, func(c byte) { b.WriteByte(c) }, func(string) { b.WriteString("code") })
	}
	return b.String()
}

// markup is only called with constants, and with the embedded style and script.
func TestMarkupIsConstant(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, regexp.MustCompile(`\bmarkup\([^)]*\)`).FindAllString(string(source), -1)...)
	}
	if diff := cmp.Diff([]string{`markup("\n")`, "markup(style)", "markup(script)", `markup("middle")`, `markup("turn")`}, found); diff != "" {
		t.Error(diff)
	}
}

// A page and a Markdown text are bounded for a report of any size. A text that was cut is followed
// by the command that shows all of it.
func TestPageIsBounded(t *testing.T) {
	t.Parallel()
	r := &report.Report{Name: "large", Made: time.Unix(1e9, 0)}
	long := strings.Repeat("a line of a long answer\n", 2000)
	for i := range 1000 {
		r.Turns = append(r.Turns, report.Turn{
			ID: "turn-" + strings.Repeat("x", i%7) + "-" + time.Unix(int64(i), 0).Format("150405"), Session: "s", At: time.Unix(int64(1e9+i*600), 0), Title: "title", Answer: long, Show: "entire show 1234",
			Files: []report.File{{Path: "a.go", Added: 2000, Hunks: []report.Hunk{{New: 1, Blocks: []report.Block{{Kind: report.Added, Turn: -1, Text: long, Lines: 2000}}}}}},
		})
	}
	page := html(t, r)
	if len(page) > report.MaxPage || len(page) < report.MaxPage/10 {
		t.Errorf("%d bytes", len(page))
	}
	if n := strings.Count(page, "more: <code>entire show 1234</code>"); n < 1000 {
		t.Errorf("%d cuts name the command", n)
	}
	if text := markdown(t, r); len(text) > report.MaxMarkdown {
		t.Errorf("Markdown of %d bytes", len(text))
	}
}

// A page of more turns than fit leaves out the oldest entries of the time line, and no link leads to
// them. The figures count all turns.
func TestPageLeavesOutOldTurns(t *testing.T) {
	t.Parallel()
	const turns = 6000 // more than fit without any text
	r := &report.Report{Name: "many", Made: time.Unix(1e9, 0)}
	for i := range turns {
		at := time.Unix(int64(1e9+i*60), 0)
		r.Commits = append(r.Commits, report.Commit{OID: fmt.Sprintf("%040x", i), Subject: "change", At: at, Turns: []int{i}})
		r.Turns = append(r.Turns, report.Turn{ID: fmt.Sprintf("turn-%d", i), Session: "s", At: at, Title: "title", Prompt: strings.Repeat("ask ", 100), Commits: []int{i}})
	}
	page := html(t, r)
	if len(page) > report.MaxPage || len(page) < report.MaxPage/10 {
		t.Errorf("%d bytes", len(page))
	}
	for _, want := range []string{fmt.Sprintf(`id="turn-%d"`, turns-1), "Older turns and commits are left out here"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	if !regexp.MustCompile(`Turns</dt><dd>6\D*000`).MatchString(page) {
		t.Error("the figures don't count all turns")
	}
	if strings.Contains(page, `id="turn-0"`) {
		t.Error("the oldest turn is shown")
	}
	for _, link := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(page, `id="`+link[1]+`"`) {
			t.Fatalf("a link leads to %s, which isn't there", link[1])
		}
	}
}
