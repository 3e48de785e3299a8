package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
)

const (
	// maxPath and maxRev limit the names of a file and of a revision, in bytes.
	maxPath, maxRev = 4096, 256
	// maxRuns is the maximum number of runs in a result.
	maxRuns = 500
	// whyText is the maximum length of each text that history_why returns, in bytes,
	// whyActs the maximum number of commands.
	whyText, whyActs = 1200, 10
	// leastText is the length below which a text is not cut further.
	leastText = 40
)

// Lines identifies lines of a file. They count from 1.
type Lines struct {
	// Rev is empty for the file in the worktree. Path is relative to the worktree's root.
	Rev, Path string
	// First is 0 for the file's first line, Last is 0 for its last.
	First, Last int
}

// Question identifies lines, a commit or a text.
type Question struct {
	Lines

	Commit, Text string
}

// Writer is the author of lines with the origin of the lines. Unknown fields are empty.
type Writer struct {
	// Kind is agent, person or unknown. Name is the name of the agent or person.
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"`
	// Subagent is the kind of a subagent, or its id.
	Subagent string `json:"subagent,omitempty"`
	// Derived is set if the author was derived, from the text of an edit or from the content of a commit
	// that names no checkpoint.
	Derived bool `json:"derived,omitempty"`
	// Imported is set if the session was imported after the commit was made.
	Imported bool `json:"imported,omitempty"`
	// Reason is why the author isn't recorded, or on what else than a record the answer is based.
	Reason string `json:"reason,omitempty"`
	// Prompt is the title of the turn.
	Prompt string `json:"prompt,omitempty"`
	// Commit and Subject are empty if the lines aren't committed.
	Commit      string `json:"commit,omitempty"`
	Subject     string `json:"subject,omitempty"`
	When        string `json:"when,omitempty"`
	Uncommitted bool   `json:"uncommitted,omitempty"`
	Session     string `json:"session,omitempty"`
	Checkpoint  string `json:"checkpoint,omitempty"`
}

// Run is a range of lines by one writer. Runs of the same writer share the pointer.
type Run struct {
	First, Last int
	Writer      *Writer
}

// Act is a tool call.
type Act struct {
	Tool   string `json:"tool"`
	Text   string `json:"text"`
	Failed bool   `json:"failed"`
	// Guessed is set if the call was inferred and not recorded.
	Guessed bool `json:"guessed,omitempty"`
}

// Reason describes the origin of lines or of a commit.
type Reason struct {
	Path string `json:"path,omitempty"`
	Line int    `json:"line,omitempty"`
	End  int    `json:"end,omitempty"`
	// Text is the text of the first line.
	Text   string `json:"text,omitempty"`
	Writer Writer `json:"author"`
	// Others is the number of further authors of the lines.
	Others int    `json:"others,omitempty"`
	Prompt string `json:"prompt,omitempty"`
	Said   string `json:"said,omitempty"`
	Edit   *Act   `json:"edit,omitempty"`
	After  []Act  `json:"after"`
	// More is set if some commands or a part of a text did not fit.
	More   bool   `json:"more"`
	Resume string `json:"resume,omitempty"`
	// Missing describes what this clone lacks, if the author is unknown.
	Missing string `json:"missing,omitempty"`
}

// check returns an error for invalid lines.
func (l Lines) check() error {
	switch {
	case l.Path == "":
		return errors.New("path is empty, allowed: a path from the root of the worktree")
	case len(l.Path) > maxPath:
		return fmt.Errorf("path has %d bytes, allowed: at most %d", len(l.Path), maxPath)
	case strings.ContainsAny(l.Path, "\x00\r\n"):
		return errors.New("path has a line break or a NUL")
	case l.Last != 0 && l.Last < l.First:
		return fmt.Errorf("the last line is %d, allowed: %d and more", l.Last, l.First)
	}
	return checkRev("rev", l.Rev)
}

// checkRev returns an error for a text that can't be the name of a revision.
func checkRev(field, rev string) error {
	if strings.HasPrefix(rev, "-") || len(rev) > maxRev || strings.ContainsFunc(rev, func(c rune) bool { return c <= ' ' || c == 0x7f }) { //nolint:mnd // DEL
		return fmt.Errorf("%s is %.40q, allowed: a revision as git names it", field, rev)
	}
	return nil
}

// lineNumber returns a line number, 0 if n is nil.
func lineNumber(field string, n *int) (int, error) {
	const most = 10_000_000
	switch {
	case n == nil:
		return 0, nil
	case *n < 1 || *n > most:
		return 0, fmt.Errorf("%s is %d, allowed: 1 to %d", field, *n, most)
	}
	return *n, nil
}

// historyBlameInput is the input of history_blame.
type historyBlameInput struct {
	Path  string `json:"path"`
	Rev   string `json:"rev"`
	Start *int   `json:"start"`
	End   *int   `json:"end"`
}

// blamed is the result of history_blame.
type blamed struct {
	Path    string        `json:"path"`
	Rev     string        `json:"rev,omitempty"`
	Authors []blamedLines `json:"authors"`
	// Next is the first line that did not fit, 0 if all did.
	Next int `json:"next,omitempty"`
	// Missing describes what this clone lacks, if the author of a line is unknown.
	Missing string `json:"missing,omitempty"`
}

// blamedLines holds all lines of a writer.
type blamedLines struct {
	Lines string `json:"lines"`

	*Writer
}

// historyBlame implements history_blame.
func (s *Server) historyBlame(ctx context.Context, c call, in historyBlameInput) (result, error) {
	first, errFirst := lineNumber("start", in.Start)
	last, errLast := lineNumber("end", in.End)
	lines := Lines{Rev: in.Rev, Path: in.Path, First: max(first, 1), Last: last}
	if err := errors.Join(errFirst, errLast); err != nil {
		return nil, err
	}
	if err := lines.check(); err != nil {
		return nil, err
	}
	return s.here(ctx, c, "", func(c call, _ string) (result, error) {
		runs, err := c.project.Blame(ctx, lines)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			shortWriter(r.Writer)
		}
		n := sort.Search(min(len(runs), maxRuns), func(n int) bool { return tokens(blamedOf(lines, runs, n+1)) > historyTokens })
		out := blamedOf(lines, runs, n)
		if slices.ContainsFunc(runs[:n], func(r Run) bool { return r.Writer.Kind == unknownWriter }) {
			out.Missing = c.project.Missing(ctx)
		}
		return data(out)
	})
}

// unknownWriter is the kind of a writer who isn't recorded.
const unknownWriter = "unknown"

// blamedOf returns the first n runs, grouped by writer.
func blamedOf(of Lines, runs []Run, n int) blamed {
	out := blamed{Path: shortLine(of.Path, historyText), Rev: of.Rev, Authors: []blamedLines{}}
	places := map[*Writer]int{}
	for _, r := range runs[:n] {
		place, known := places[r.Writer]
		if !known {
			place = len(out.Authors)
			places[r.Writer] = place
			out.Authors = append(out.Authors, blamedLines{Writer: r.Writer})
		}
		text := strconv.Itoa(r.First)
		if r.Last > r.First {
			text = fmt.Sprintf("%d-%d", r.First, r.Last)
		}
		if known {
			text = ", " + text
		}
		out.Authors[place].Lines += text
	}
	if n < len(runs) {
		out.Next = runs[n].First
	}
	return out
}

// shortWriter cuts the texts of a writer.
func shortWriter(w *Writer) {
	const name = 60
	w.Name, w.Subagent = shortLine(w.Name, name), shortLine(w.Subagent, name)
	w.Prompt, w.Subject = shortLine(w.Prompt, historyPrompt), shortLine(w.Subject, historyPrompt)
}

// historyWhyInput is the input of history_why.
type historyWhyInput struct {
	File   string `json:"file"`
	Line   *int   `json:"line"`
	End    *int   `json:"end"`
	Commit string `json:"commit"`
	Text   string `json:"text"`
}

// question returns the question of the input, or an error if it does not ask exactly one.
func (in *historyWhyInput) question() (q Question, err error) {
	named := 0
	for _, given := range []bool{in.File != "" || in.Line != nil || in.End != nil, in.Commit != "", in.Text != ""} {
		if given {
			named++
		}
	}
	if named != 1 {
		return q, errors.New("one of these is needed: file and line, commit, text")
	}
	switch {
	case in.Commit != "":
		return Question{Commit: in.Commit}, checkRev("commit", in.Commit)
	case in.Text != "":
		if strings.TrimSpace(in.Text) == "" || len(in.Text) > maxQuery || strings.ContainsAny(in.Text, "\x00\r\n") {
			return q, fmt.Errorf("text has %d bytes, allowed: words of one line, at most %d bytes", len(in.Text), maxQuery)
		}
		return Question{Text: in.Text}, nil
	case in.Line == nil:
		return q, errors.New("file needs a line: history_blame lists the authors of all")
	}
	first, errFirst := lineNumber("line", in.Line)
	last, errLast := lineNumber("end", in.End)
	if last == 0 {
		last = first
	}
	q.Lines = Lines{Path: in.File, First: first, Last: last}
	return q, errors.Join(errFirst, errLast, q.check())
}

// historyWhy implements history_why.
func (s *Server) historyWhy(ctx context.Context, c call, in historyWhyInput) (result, error) {
	q, err := in.question()
	if err != nil {
		return nil, err
	}
	return s.here(ctx, c, "", func(c call, _ string) (result, error) {
		out, err := c.project.Why(ctx, q)
		if err != nil {
			return nil, err
		}
		out.fit()
		if out.Writer.Kind == unknownWriter {
			out.Missing = c.project.Missing(ctx)
		}
		return data(out)
	})
}

// fit cuts a reason to historyTokens. It first omits the last commands, then halves the
// longest text.
func (out *Reason) fit() {
	shortWriter(&out.Writer)
	out.Path = shortLine(out.Path, historyText)
	texts := []*string{&out.Prompt, &out.Said, &out.Text}
	if len(out.After) > whyActs {
		out.After, out.More = out.After[:whyActs], true
	}
	for i := range out.After {
		out.After[i].Text = shortLine(out.After[i].Text, historyText)
	}
	if out.Edit != nil {
		texts = append(texts, &out.Edit.Text)
	}
	for _, text := range texts {
		*text = shortLine(*text, whyText)
	}
	for tokens(out) > historyTokens {
		out.More = true
		if n := len(out.After); n > 0 {
			out.After = out.After[:n-1]
			continue
		}
		longest := texts[0]
		for _, text := range texts {
			if len(*text) > len(*longest) {
				longest = text
			}
		}
		if len(*longest) < leastText {
			return
		}
		*longest = shortLine(*longest, len(*longest)/2) //nolint:mnd // half
	}
}
