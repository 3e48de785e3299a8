package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/mcpserver"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/blame"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
)

// mcpLines finds the authors of lines for the MCP server.
type mcpLines struct {
	reader blame.Reader
	now    func() time.Time
}

// request returns the request for lines of a file in the worktree.
func (m mcpLines) request(of mcpserver.Lines) (git.BlameRequest, error) {
	root := m.reader.Repo.Root
	paths, err := app.TreePaths(root, root, []string{of.Path})
	if err != nil {
		return git.BlameRequest{}, err
	}
	if len(paths) == 0 {
		return git.BlameRequest{}, errors.New("path is the worktree, allowed: a file in it")
	}
	q := git.BlameRequest{Rev: of.Rev, Path: paths[0]}
	switch {
	case of.Last > 0:
		q.Ranges = []string{fmt.Sprintf("%d,%d", max(of.First, 1), of.Last)}
	case of.First > 1:
		q.Ranges = []string{fmt.Sprintf("%d,", of.First)}
	}
	return q, nil
}

func (m mcpLines) blame(ctx context.Context, of mcpserver.Lines) ([]mcpserver.Run, error) {
	q, err := m.request(of)
	if err != nil {
		return nil, err
	}
	f, err := m.reader.File(ctx, q)
	if err != nil {
		return nil, m.linesError(err, q)
	}
	writers := map[*blame.Author]*mcpserver.Writer{}
	var runs []mcpserver.Run
	for i, l := range f.Lines {
		if i > 0 && f.Lines[i-1].Author == l.Author {
			runs[len(runs)-1].Last = l.Number
			continue
		}
		if writers[l.Author] == nil {
			w := m.writer(l.Author, f.Commits[l.Commit])
			writers[l.Author] = &w
		}
		runs = append(runs, mcpserver.Run{First: l.Number, Last: l.Number, Writer: writers[l.Author]})
	}
	return runs, nil
}

func (m mcpLines) why(ctx context.Context, q mcpserver.Question) (mcpserver.Reason, error) {
	var w blame.Reason
	var err error
	switch {
	case q.Commit != "":
		commit, unknown := m.reader.Repo.Commit(ctx, q.Commit)
		if unknown != nil {
			return mcpserver.Reason{}, fmt.Errorf("no commit %s", ui.Line(q.Commit, format.NameWidth))
		}
		w, err = m.reader.WhyCommit(ctx, commit)
		err = m.linesError(err, git.BlameRequest{})
	case q.Text != "":
		w, err = m.reader.WhyText(ctx, q.Text)
		err = m.linesError(err, git.BlameRequest{})
	default:
		lines, bad := m.request(q.Lines)
		if bad != nil {
			return mcpserver.Reason{}, bad
		}
		w, err = m.reader.WhyLines(ctx, lines)
		err = m.linesError(err, lines)
	}
	if err != nil {
		return mcpserver.Reason{}, err
	}
	s := &w.Story
	out := mcpserver.Reason{
		Writer: m.writer(&s.Author, w.Commit), Others: w.Others, Prompt: s.Prompt, Said: s.Said, After: []mcpserver.Act{},
	}
	out.Writer.Prompt = "" // the reason has the whole prompt
	if len(w.Lines) > 0 {
		first := w.Lines[0]
		out.Path, out.Line, out.End, out.Text = w.File.Path, first.Number, w.Lines[len(w.Lines)-1].Number, first.Text
	}
	if s.Edit != nil {
		edit := mcpAct(*s.Edit)
		out.Edit = &edit
	}
	for _, a := range s.After {
		out.After = append(out.After, mcpAct(a))
	}
	if s.Author.Session != "" {
		out.Resume = app.ResumeRecorded(m.reader.Repo, s.Author.Session)
	}
	return out, nil
}

func mcpAct(a blame.Act) mcpserver.Act {
	return mcpserver.Act{Tool: a.Tool, Text: a.Detail, Failed: a.Failed, Guessed: a.Guessed}
}

func (m mcpLines) writer(a *blame.Author, commit git.Commit) mcpserver.Writer {
	w := mcpserver.Writer{
		Kind: string(a.Kind), Name: cmp.Or(a.Agent, a.Name), Subagent: cmp.Or(a.Type, a.Subagent), Derived: a.Derived, Imported: a.Imported,
		Prompt: a.Turn.Title, Session: a.Session, Checkpoint: string(a.Checkpoint), Uncommitted: commit.OID == "",
	}
	if a.Kind == blame.Unknown {
		w.Reason = a.Basis.Text()
	}
	if commit.OID != "" {
		w.Commit, w.Subject, w.When = commit.OID.Short(), plain.FirstLine(commit.Message), brief.Ago(m.now(), commit.Committer.When)
	}
	return w
}

// linesError returns the description of an error of lines for the model.
func (m mcpLines) linesError(err error, q git.BlameRequest) error {
	_, said := format.LinesError(m.reader.Repo, err, q.Rev, q.Path)
	return said
}
