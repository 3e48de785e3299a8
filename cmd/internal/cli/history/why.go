package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/blame"
	"github.com/seed-3aff656d/entire/strategy/query"
)

type whyOptions struct {
	outputFlags

	full bool
}

// NewWhy returns the command that shows the origin of a line.
func NewWhy(a *app.App) *cobra.Command {
	var opts whyOptions
	cmd := &cobra.Command{
		Use:        "why <file>:<line> | <commit> | <text>",
		SuggestFor: []string{"reason", "because"},
		Short:      "Show the prompt and the edit behind a line",
		Long: `Shows what led to a line, a range of lines, or a commit: the prompt, what the agent
said before the edit, the edit or command, what ran afterwards and whether it failed,
the commit, and how to continue the session. For a text it is the newest line that has
it, even if that was deleted later.

EXIT STATUS
  0  shown, even if a person wrote the line
  1  failure, or no such file, line, commit or text
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
			return runWhy(cmd.Context(), a, opts, args[0])
		},
	}
	f := cmd.Flags()
	f.BoolVar(&opts.full, "full", false, "show the whole turn")
	opts.addOutput(f)
	cmd.ValidArgsFunction = setup.ArgumentOrFile(a, 0, setup.Branches)
	return cmd
}

func runWhy(ctx context.Context, a *app.App, opts whyOptions, what string) error {
	return read(a, func(r *reading) error {
		found, err := r.reason(ctx, what)
		if err != nil {
			return err
		}
		if opts.json {
			out := newWhyJSON(r.reader.Repo, found, opts.full)
			out.Missing = r.missingFor(ctx, found)
			return r.Streams.JSON(out)
		}
		opts.show(a, r.whyText(ctx, found, opts.full))
		return nil
	})
}

// reason finds the line, commit or text that the argument names, and its origin.
func (r *reading) reason(ctx context.Context, what string) (blame.Reason, error) {
	if p, ok := splitPlace(what); ok {
		rel, err := r.path(p.path)
		switch {
		case err == nil && r.isFile(rel) && p.from == 0:
			return blame.Reason{}, app.WithHint(app.Usagef("%s is not a line or a range of lines", format.Path(what)), "lines are numbered from 1: src/auth.go:42, src/auth.go:40-60")
		case err == nil && r.isFile(rel):
			rev := r.rev("")
			found, err := r.reader.WhyLines(ctx, git.BlameRequest{Rev: rev, Path: rel, Ranges: []string{fmt.Sprintf("%d,%d", p.from, p.to)}})
			return found, r.explained(err, rev, rel)
		case p.from > 0 && !strings.ContainsAny(p.path, " \t") && (strings.Contains(p.path, "/") || filepath.Ext(p.path) != ""):
			return blame.Reason{}, app.WithHint(fmt.Errorf("no file %s in the worktree", format.Path(p.path)), "to search for a text, quote it: entire show \"retry later\"")
		}
	}
	if rel, err := r.path(what); err == nil && r.isFile(rel) {
		return blame.Reason{}, app.WithHint(app.Usagef("%s: no line given", format.Path(what)), fmt.Sprintf("try `entire show %s:1`; `entire blame %s` shows all lines", what, what))
	}
	if !strings.HasPrefix(what, "-") && !strings.ContainsAny(what, " \t\n") {
		if commit, err := r.reader.Repo.Commit(ctx, what+"^{commit}"); err == nil {
			found, err := r.reader.WhyCommit(ctx, commit)
			return found, r.explained(err, "", "")
		}
	}
	found, err := r.reader.WhyText(ctx, what)
	if errors.Is(err, blame.ErrNoText) {
		hint := "give a line as src/auth.go:42; a text is searched for literally, in tracked files and the history of HEAD"
		return found, app.WithHint(fmt.Errorf("no file, commit or line %s", ui.Line(strconv.Quote(what), format.LineWidth)), format.HintWithGaps(ctx, r.reader.Repo, hint))
	}
	return found, r.explained(err, "", "")
}

// place is a range of lines of a file, from 1. from is 0 if the range is invalid.
type place struct {
	path     string
	from, to int
}

// splitPlace parses "file:12" and "file:12-20". It returns false if the part after the last colon
// has other characters than digits, signs and spaces.
func splitPlace(what string) (place, bool) {
	at := strings.LastIndexByte(what, ':')
	if at <= 0 {
		return place{}, false
	}
	path, lines := what[:at], what[at+1:]
	if strings.Trim(lines, "0123456789-+, ") != "" || !strings.ContainsAny(lines, "0123456789") {
		return place{}, false
	}
	first, last, isRange := strings.Cut(lines, "-")
	if !isRange {
		last = first
	}
	from, errA := strconv.Atoi(first)
	to, errB := strconv.Atoi(last)
	if errA != nil || errB != nil || from < 1 || to < from || strings.Contains(lines, "+") {
		return place{path: path}, true
	}
	return place{path, from, to}, true
}

func (r *reading) isFile(rel string) bool {
	if r.reader.Repo.Root == "" {
		return true // git reports a missing file
	}
	info, err := os.Stat(filepath.Join(r.reader.Repo.Root, filepath.FromSlash(rel)))
	return err == nil && info.Mode().IsRegular()
}

const (
	// longestText is the number of characters shown of prompts and answers without --full,
	// mostAfter the number of commands.
	longestText, mostAfter = 600, 6
)

// lineFetchHint is the hint if the checkpoint of a commit is not in this clone.
const lineFetchHint = "`entire fetch` fetches it, if the remote has it"

func (r *reading) whyText(ctx context.Context, w blame.Reason, full bool) string {
	var b strings.Builder
	fact := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s %s\n", r.Streams.Paint(ui.Bold, pad(name, len("Commit:  "))), text)
		}
	}
	if w.File != nil {
		first, last := w.Lines[0], w.Lines[len(w.Lines)-1]
		place := fmt.Sprintf("%s:%d", format.Path(w.File.Path), first.Number)
		if last.Number > first.Number {
			place += fmt.Sprintf("-%d", last.Number)
		}
		fact("Line:", place+"  "+ui.Line(first.Text, format.LineWidth))
		if w.Others > 0 {
			fact("", "("+ui.Plural(w.Others, "other author")+" in this range: `entire blame` shows them)")
		}
	}
	s := &w.Story
	author := whose(&s.Author)
	switch {
	case s.Author.Imported && s.Author.Basis != blame.FromContent:
		author += " (" + imported + " after the commit was made)"
	case s.Author.Basis == blame.FromContent:
		author += fmt.Sprintf(" (derived: the commit has lines of checkpoint %s)", s.Author.Checkpoint)
	case s.Author.Derived:
		author += " (derived from the text of an edit)"
	}
	fact("By:", author)
	if w.Commit.OID != "" {
		fact("Commit:", w.Commit.OID.Short()+" "+ui.Line(plain.FirstLine(w.Commit.Message), format.SubjectWidth)+", "+ui.Ago(r.Now(), w.Commit.Committer.When))
	} else {
		fact("Commit:", "not committed yet")
	}
	switch s.Author.Kind {
	case blame.Unknown:
		if gaps := r.missingFor(ctx, w); len(gaps) > 0 {
			gap := gaps[0]
			what := format.Capitalize(gap.What)
			if gap.Part == format.HistoryPart {
				what = "Not recorded: " + gap.What
			}
			b.WriteString("\n" + what + ".\n  hint: " + gap.Hint + "\n")
			return b.String()
		}
		b.WriteString("\n" + format.Capitalize(blame.NotRecorded) + ": " + cmp.Or(s.Author.Basis.Text(), "it is not certain who wrote it") + ".\n")
		if hint := basisHint(s.Author.Basis, commitName(w.Commit.OID)+"^!"); hint != "" {
			b.WriteString("  hint: " + hint + "\n")
		} else if s.Author.Checkpoint != "" || len(checkpoint.IDsOf(w.Commit)) > 0 {
			b.WriteString("  hint: `entire show " + commitName(w.Commit.OID) + "` shows the conversation of the commit\n")
		}
		return b.String()
	case blame.Person:
		text := "The agent is not recorded"
		if basis := s.Author.Basis.Text(); basis != "" {
			text = format.Capitalize(basis)
		}
		b.WriteString("\n" + text + ".\n")
		return b.String()
	case blame.Agent:
	}
	if full && len(s.Turn) > 0 {
		b.WriteString("\n" + (&query.CheckpointSession{Items: s.Turn}).Text())
	} else {
		r.scene(&b, s)
	}
	b.WriteString("\n")
	if !full {
		b.WriteString("The whole turn: add --full\n")
	}
	fmt.Fprintf(&b, "Continue the session: %s\n", app.ResumeRecorded(r.reader.Repo, s.Author.Session))
	return b.String()
}

// missingFor returns what the clone lacks to determine an unknown author: one part, or none.
func (r *reading) missingFor(ctx context.Context, w blame.Reason) []format.GapJSON {
	switch {
	case w.Story.Author.Kind != blame.Unknown:
		return nil
	case r.reader.IsCut(w.Commit.OID):
		return []format.GapJSON{{Part: format.HistoryPart, What: "it may be older: this shallow clone lacks earlier commits", Hint: format.DeepenHint}}
	case r.reader.LacksRecord(ctx, w.Commit):
		return []format.GapJSON{{Part: format.CheckpointsPart, What: "the checkpoint that the commit names is not in this clone", Hint: lineFetchHint}}
	}
	return nil
}

// scene writes the part of the turn that led to the edit.
func (r *reading) scene(b *strings.Builder, s *blame.Story) {
	if s.Prompt != "" {
		b.WriteString("\n[User] " + plain.Quote(cut(s.Prompt), "") + "\n")
	}
	if s.Said != "" {
		b.WriteString("\n[Assistant] " + plain.Quote(cut(s.Said), "") + "\n")
	}
	if s.Edit == nil {
		b.WriteString("\nNo edit found: a command or a formatter may have made it. --full shows the turn.\n")
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
	text := "[Tool] " + ui.Line(a.Tool, format.NameWidth)
	if detail := ui.Line(a.Detail, format.LineWidth); detail != "" {
		text += ": " + detail
	}
	if a.Failed {
		text += " (failed)"
	}
	return text
}

// cut returns the first longestText characters of a text, safe to show.
func cut(text string) string {
	text = plain.Prose(text)
	if runes := []rune(text); len(runes) > longestText {
		return strings.TrimSpace(string(runes[:longestText])) + " …"
	}
	return text
}

// whyJSON is the output of `why --json`; docs/formats/blame.md describes it.
type whyJSON struct {
	What    string          `json:"what"`
	Path    string          `json:"path,omitempty"`
	Line    int             `json:"line,omitempty"`
	EndLine int             `json:"end_line,omitempty"`
	Text    string          `json:"text,omitempty"`
	Author  *authorJSON     `json:"author,omitempty"`
	Commit  *lineCommitJSON `json:"commit,omitempty"`
	Prompt  string          `json:"prompt,omitempty"`
	Said    string          `json:"said,omitempty"`
	Edit    *actJSON        `json:"edit,omitempty"`
	After   []actJSON       `json:"after"`
	Resume  string          `json:"resume,omitempty"`
	Others  int             `json:"others,omitempty"`
	Turn    []itemJSON      `json:"turn,omitempty"`
	// Missing is what the clone lacks to determine an unknown author.
	Missing []format.GapJSON `json:"missing,omitempty"`
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

func newWhyJSON(repo *git.Repo, w blame.Reason, full bool) whyJSON {
	s := &w.Story
	out := whyJSON{What: "commit", Prompt: s.Prompt, Said: s.Said, After: []actJSON{}, Others: w.Others}
	if s.Author.Kind != blame.Person || w.File != nil {
		author := newAuthorJSON(&s.Author)
		out.Author = &author
	}
	if w.File != nil {
		first, last := w.Lines[0], w.Lines[len(w.Lines)-1]
		out.What, out.Path, out.Line, out.EndLine, out.Text = "line", w.File.Path, first.Number, last.Number, first.Text
	}
	if w.Commit.OID != "" {
		commit := newCommitJSON(w.Commit)
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
		out.Resume = app.ResumeRecorded(repo, s.Author.Session)
	}
	if full {
		for _, i := range slices.Clone(s.Turn) {
			out.Turn = append(out.Turn, itemJSON{Role: string(i.By), Tool: i.Tool, Text: i.Text, Failed: i.Failed, Line: i.Line})
		}
	}
	return out
}
