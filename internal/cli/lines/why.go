package lines

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/cli/complete"
	"github.com/seed-3aff656d/entire/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitblame"
	"github.com/seed-3aff656d/entire/internal/ui"
	"github.com/seed-3aff656d/entire/strategy/blame"
	"github.com/seed-3aff656d/entire/strategy/explain"
)

type whyOptions struct{ json, full, noPager bool }

// NewWhy returns the command that shows what led to a line.
func NewWhy(a *app.App) *cobra.Command {
	var opts whyOptions
	cmd := &cobra.Command{
		Use:        "why <file>:<line> | <commit> | <text>",
		SuggestFor: []string{"reason", "because"},
		Short:      "Show the prompt and the edit that led to a line",
		Long: `Shows what led to a line, to the lines of a range, or to a commit: what was asked,
what the agent said before it edited, the edit or the command, what ran after it in the
turn and whether it failed, the commit, and how to take the session up. Of a text it is
the newest line that has it, also one that is gone from the files.

EXIT STATUS
  0  shown, also if a person wrote the line
  1  nothing is so called, or another failure
  2  wrong usage`,
		Example: `  entire why src/auth.go:42
  entire why src/auth.go:40-60 --full
  entire why HEAD~2
  entire why "retry with backoff"`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(args[0]) == "" {
				return app.Usagef("an empty text")
			}
			return read(a, func(r *reading) error { return r.why(cmd.Context(), args[0], opts) })
		},
	}
	f := cmd.Flags()
	f.BoolVar(&opts.full, "full", false, "show the whole turn")
	f.BoolVar(&opts.json, "json", false, "print JSON")
	f.BoolVar(&opts.noPager, "no-pager", false, "don't show long texts a screen at a time")
	cmd.ValidArgsFunction = complete.ArgumentOrFile(a, 0, complete.Branches)
	return cmd
}

// reason is what a question is about, and what led to it.
type reason struct {
	file  *blame.File // nil for a commit
	lines []blame.Line
	// commit is that of the lines, or the one that was asked about.
	commit git.Commit
	story  blame.Story
	others int
}

func (r *reading) why(ctx context.Context, what string, opts whyOptions) error {
	found, err := r.reason(ctx, what)
	if err != nil {
		return err
	}
	if opts.json {
		return r.Streams.JSON(newWhyJSON(found, opts.full))
	}
	r.show(r.whyText(found, opts.full), opts.noPager)
	return nil
}

// reason finds what is asked about.
func (r *reading) reason(ctx context.Context, what string) (reason, error) {
	if path, from, to, ok := splitPlace(what); ok {
		if rel, err := r.path(path); err == nil && r.isFile(rel) {
			return r.ofLines(ctx, rel, from, to)
		} else if !strings.ContainsAny(path, " \t") && (strings.Contains(path, "/") || filepath.Ext(path) != "") {
			return reason{}, app.WithHint(fmt.Errorf("no file %s in the worktree", format.Path(path)), "a text in quotes is searched for: entire why \"retry\"")
		}
	}
	if rel, err := r.path(what); err == nil && r.isFile(rel) {
		return reason{}, app.WithHint(app.Usagef("%s needs a line", format.Path(what)), fmt.Sprintf("entire why %s:1; `entire blame %s` shows all of them", what, what))
	}
	if !strings.HasPrefix(what, "-") && !strings.ContainsAny(what, " \t\n") {
		if commit, err := r.reader.Repo.Commit(ctx, what+"^{commit}"); err == nil {
			return r.ofCommit(ctx, commit)
		}
	}
	return r.ofText(ctx, what)
}

// splitPlace reads "file:12" and "file:12-20".
func splitPlace(what string) (path string, from, to int, ok bool) {
	at := strings.LastIndexByte(what, ':')
	if at <= 0 {
		return "", 0, 0, false
	}
	first, last, isRange := strings.Cut(what[at+1:], "-")
	if !isRange {
		last = first
	}
	from, errA := strconv.Atoi(first)
	to, errB := strconv.Atoi(last)
	return what[:at], from, to, errA == nil && errB == nil && from > 0 && to >= from
}

func (r *reading) isFile(rel string) bool {
	if r.reader.Repo.Root == "" {
		return true // git knows
	}
	info, err := os.Stat(filepath.Join(r.reader.Repo.Root, filepath.FromSlash(rel)))
	return err == nil && info.Mode().IsRegular()
}

func (r *reading) ofLines(ctx context.Context, path string, from, to int) (reason, error) {
	rev := r.rev("")
	f, err := r.reader.File(ctx, gitblame.Request{Rev: rev, Path: path, Ranges: []string{fmt.Sprintf("%d,%d", from, to)}})
	if err != nil {
		return reason{}, explained(err, rev, path)
	}
	if len(f.Lines) == 0 {
		return reason{}, fmt.Errorf("%s is empty", format.Path(path))
	}
	return r.reasonOf(ctx, &f)
}

// reasonOf tells of the author of most of a file's lines, of equals the first.
func (r *reading) reasonOf(ctx context.Context, f *blame.File) (found reason, err error) {
	counts, most := map[*blame.Author]int{}, f.Lines[0].Author
	for _, l := range f.Lines {
		counts[l.Author]++
	}
	for _, l := range f.Lines {
		if counts[l.Author] > counts[most] {
			most = l.Author
		}
	}
	found = reason{file: f, others: len(counts) - 1, commit: f.Commits[most.Commit]}
	name := f.Path
	for _, l := range f.Lines {
		if l.Author == most {
			found.lines = append(found.lines, l)
			name = l.Path
		}
	}
	found.story, err = r.reader.Story(ctx, *most, name)
	return found, err
}

func (r *reading) ofCommit(ctx context.Context, commit git.Commit) (reason, error) {
	author, file, known, err := r.reader.OfCommit(ctx, commit)
	if err != nil {
		return reason{}, err
	}
	if !known {
		author = blame.Author{Kind: blame.Person, Commit: commit.OID, Name: commit.Author.Name}
	}
	found := reason{commit: commit}
	found.story, err = r.reader.Story(ctx, author, file)
	return found, err
}

// mostHits is how many lines with a text are asked about.
const mostHits = 10

func (r *reading) ofText(ctx context.Context, text string) (reason, error) {
	var newest *blame.File
	if r.reader.Repo.Root != "" {
		hits, err := gitblame.Search(ctx, r.reader.Repo, text, mostHits)
		if err != nil {
			return reason{}, err
		}
		for _, hit := range hits {
			f, err := r.reader.File(ctx, gitblame.Request{Path: hit.Path, Ranges: []string{fmt.Sprintf("%d,%d", hit.Final, hit.Final)}})
			if err == nil && len(f.Lines) > 0 && (newest == nil || isNewer(&f, newest)) {
				newest = &f
			}
		}
	}
	if newest != nil {
		return r.reasonOf(ctx, newest)
	}
	oid, _, known, err := gitblame.Pickaxe(ctx, r.reader.Repo, text)
	if err != nil || !known {
		return reason{}, app.WithHint(fmt.Errorf("no file, commit or line %s", ui.Line(strconv.Quote(text), format.LineWidth)), "a line is named as src/auth.go:42; a text is searched for as it is, in tracked files and in the history of HEAD")
	}
	commit, err := r.reader.Repo.Commit(ctx, string(oid))
	if err != nil {
		return reason{}, err
	}
	return r.ofCommit(ctx, commit)
}

// isNewer reports whether the first line of a is newer than that of b; what isn't committed
// is the newest.
func isNewer(a, b *blame.File) bool {
	left, right := a.Lines[0].Commit, b.Lines[0].Commit
	if left == "" || right == "" {
		return left == "" && right != ""
	}
	return a.Commits[left].Committer.When.After(b.Commits[right].Committer.When)
}

const (
	// longestText is how much is shown of what was asked and said, without --full, in
	// characters, mostAfter how many commands.
	longestText, mostAfter = 600, 6
)

func (r *reading) whyText(w reason, full bool) string {
	var b strings.Builder
	fact := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s %s\n", r.Streams.Paint(ui.Bold, pad(name, len("Commit:  "))), text)
		}
	}
	if w.file != nil {
		first, last := w.lines[0], w.lines[len(w.lines)-1]
		place := fmt.Sprintf("%s:%d", format.Path(w.file.Path), first.Number)
		if last.Number > first.Number {
			place += fmt.Sprintf("-%d", last.Number)
		}
		fact("Line:", place+"  "+ui.Line(first.Text, format.LineWidth))
		if w.others > 0 {
			fact("", "("+ui.Plural(w.others, "other author")+" in this range: `entire blame` shows them)")
		}
	}
	s := &w.story
	author := whose(&s.Author)
	if s.Author.Derived {
		author += " (derived from the text of an edit)"
	}
	fact("By:", author)
	if w.commit.OID != "" {
		fact("Commit:", w.commit.OID.Short()+" "+format.Subject(w.commit.Message)+", "+ui.Ago(r.Now(), w.commit.Committer.When))
	} else {
		fact("Commit:", "not committed yet")
	}
	switch s.Author.Kind {
	case blame.Unknown:
		b.WriteString("\nNothing certain is known of who wrote it. `entire explain " + commitName(w.commit.OID) + "` shows the conversation of the commit.\n")
		return b.String()
	case blame.Person:
		b.WriteString("\nNo agent wrote it.\n")
		return b.String()
	case blame.Agent:
	}
	if full && len(s.Turn) > 0 {
		b.WriteString("\n" + (&explain.Session{Items: s.Turn}).Text())
	} else {
		r.scene(&b, s)
	}
	fmt.Fprintf(&b, "\nTake it up: %s\n", resumeCommand(s.Author.Session))
	return b.String()
}

// scene is the part of the turn that led to the edit.
func (r *reading) scene(b *strings.Builder, s *blame.Story) {
	if s.Prompt != "" {
		b.WriteString("\n[User] " + cut(s.Prompt) + "\n")
	}
	if s.Said != "" {
		b.WriteString("\n[Assistant] " + cut(s.Said) + "\n")
	}
	if s.Edit == nil {
		b.WriteString("\nThe edit isn't known: a command or a formatter made it. --full shows the turn.\n")
	} else {
		mark := ""
		if s.Edit.Guessed {
			mark = "? "
		}
		b.WriteString("\n" + mark + actText(*s.Edit) + "\n")
	}
	for i, a := range s.After {
		if i == mostAfter {
			fmt.Fprintf(b, "  ... %d more\n", len(s.After)-i)
			break
		}
		b.WriteString("  then " + actText(a) + "\n")
	}
}

func actText(a blame.Act) string {
	text := "[Tool] " + a.Tool + ": " + ui.Line(a.Detail, format.LineWidth)
	if a.Failed {
		text += " (failed)"
	}
	return text
}

// cut is the beginning of a text.
func cut(text string) string {
	if runes := []rune(text); len(runes) > longestText {
		return strings.TrimSpace(string(runes[:longestText])) + " …"
	}
	return text
}

// resumeCommand takes a session up.
func resumeCommand(session string) string { return "claude -r " + session }

// whyJSON is the output of `why --json`; docs/formats/blame.md describes it.
type whyJSON struct {
	What    string      `json:"what"`
	Path    string      `json:"path,omitempty"`
	Line    int         `json:"line,omitempty"`
	EndLine int         `json:"end_line,omitempty"`
	Text    string      `json:"text,omitempty"`
	Author  *authorJSON `json:"author,omitempty"`
	Commit  *commitJSON `json:"commit,omitempty"`
	Prompt  string      `json:"prompt,omitempty"`
	Said    string      `json:"said,omitempty"`
	Edit    *actJSON    `json:"edit,omitempty"`
	After   []actJSON   `json:"after"`
	Resume  string      `json:"resume,omitempty"`
	Others  int         `json:"others,omitempty"`
	Turn    []itemJSON  `json:"turn,omitempty"`
}

type actJSON struct {
	Tool    string `json:"tool"`
	Detail  string `json:"detail"`
	Call    string `json:"call,omitempty"`
	Failed  bool   `json:"failed"`
	Guessed bool   `json:"guessed,omitempty"`
}

type itemJSON struct {
	Role   string `json:"role"`
	Tool   string `json:"tool,omitempty"`
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitempty"`
	Line   int    `json:"line"`
}

func newWhyJSON(w reason, full bool) whyJSON {
	s := &w.story
	out := whyJSON{What: "commit", Prompt: s.Prompt, Said: s.Said, After: []actJSON{}, Others: w.others}
	if s.Author.Kind != blame.Person || w.file != nil {
		author := newAuthorJSON(&s.Author)
		out.Author = &author
	}
	if w.file != nil {
		first, last := w.lines[0], w.lines[len(w.lines)-1]
		out.What, out.Path, out.Line, out.EndLine, out.Text = "line", w.file.Path, first.Number, last.Number, first.Text
	}
	if w.commit.OID != "" {
		commit := newCommitJSON(w.commit)
		out.Commit = &commit
	}
	if s.Edit != nil {
		edit := actJSON(*s.Edit)
		out.Edit = &edit
	}
	for _, a := range s.After {
		out.After = append(out.After, actJSON(a))
	}
	if s.Author.Session != "" {
		out.Resume = resumeCommand(s.Author.Session)
	}
	if full {
		for _, i := range slices.Clone(s.Turn) {
			out.Turn = append(out.Turn, itemJSON{Role: string(i.By), Tool: i.Tool, Text: i.Text, Failed: i.Failed, Line: i.Line})
		}
	}
	return out
}
