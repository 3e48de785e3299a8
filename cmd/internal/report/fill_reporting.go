package report

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/recall/shellcmd"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Selection selects the contents of a report: the commits of a range and the turns in their
// checkpoints; or one turn and its commits; or the turns that a filter selects and their
// commits.
type Selection struct {
	// Range is the range as an argument list of git log.
	Range  []string
	Turn   *index.Row
	Filter index.Filter
	// Limit bounds the turns and the commits that are shown, the newest of each.
	Limit int
}

// FillCost returns the cost of tokens of a model; false if that isn't known.
type FillCost func(model string, t index.Tokens) (float64, bool)

// Progress is called with the step, the work done and the total.
type Progress func(what string, done, total int64)

// Fill fills a report from the index r, except its name and origin. If git rejects the
// range, the error is a *git.ExitError.
func Fill(ctx context.Context, w *workspace.Workspace, r *index.Reader, s Selection, cost FillCost, progress Progress) (*Report, error) {
	f := &filling{Workspace: w, index: r, report: &Report{}, cost: cost, progress: progress, commitAt: map[git.OID]int{}}
	if err := f.selected(ctx, s); err != nil {
		return nil, err
	}
	if err := f.turns(ctx); err != nil {
		return nil, err
	}
	if err := f.commits(ctx); err != nil {
		return nil, err
	}
	if err := f.changes(ctx); err != nil {
		return nil, err
	}
	// The rewinds of this worktree in the time of the report.
	if len(f.report.Turns) == 0 || s.Turn != nil || s.Filter.Session != "" || s.Filter.Agent != "" || s.Filter.Person != "" {
		return f.report, nil
	}
	store, err := bands.Open(tracking.StoreDir(w))
	if err != nil {
		return f.report, nil //nolint:nilerr // there are none
	}
	past, err := bands.ReadHistory(store, tracking.Lineage(w))
	if err != nil {
		return f.report, nil //nolint:nilerr // as far as is known, there are none
	}
	from := f.report.Turns[0].At
	for _, t := range past.Undo {
		if t.At.Before(from) || !s.Filter.Until.IsZero() && t.At.After(s.Filter.Until) {
			continue
		}
		paths := make([]string, len(t.Paths))
		for i, p := range t.Paths {
			paths[i] = w.Redact.Path(p)
		}
		f.report.Rewinds = append(f.report.Rewinds, Rewind{
			At: t.At.In(w.Env.Now().Location()), Target: t.Target.String(), Rescue: t.Rescue.String(), Paths: paths,
		})
	}
	return f.report, nil
}

// filling fills one report.
type filling struct {
	*workspace.Workspace

	index    *index.Reader
	report   *Report
	cost     FillCost
	progress Progress

	rows    []index.Row // in the order of Turns
	details []index.Detail
	// commitAt are the places of commits in Commits.
	commitAt map[git.OID]int
	oids     []git.OID // in the order of Commits
}

// selected reads the rows of the turns, and lists the commits.
func (f *filling) selected(ctx context.Context, s Selection) error {
	switch {
	case len(s.Range) > 0:
		args := append([]string{"--reverse", fmt.Sprintf("--max-count=%d", s.Limit), "--end-of-options"}, s.Range...)
		commits, err := git.Commits(ctx, f.Repo, append(args, "--")...)
		if err != nil {
			return err
		}
		var ids []string
		for _, c := range commits {
			ids = append(ids, f.addCommit(c, c.Subject())...)
		}
		if f.rows, err = f.index.TurnsOf(ctx, ids); err != nil {
			return err
		}
	case s.Turn != nil:
		if err := f.addTurns(ctx, []index.Row{*s.Turn}); err != nil {
			return err
		}
	default:
		rows, more, err := f.index.Turns(ctx, s.Filter, s.Limit)
		if err != nil {
			return err
		}
		if more {
			all, err := f.index.Count(ctx, s.Filter)
			if err != nil {
				return err
			}
			f.report.Omitted = all - len(rows)
		}
		slices.Reverse(rows)
		if err := f.addTurns(ctx, rows); err != nil {
			return err
		}
	}
	if over := len(f.rows) - s.Limit; over > 0 {
		f.rows, f.report.Omitted = f.rows[over:], f.report.Omitted+over
	}
	return nil
}

// addTurns adds turns with their commits.
func (f *filling) addTurns(ctx context.Context, rows []index.Row) error {
	f.rows = rows
	var commits []index.Commit
	for i := range rows {
		commits = append(commits, rows[i].Commits...)
	}
	slices.SortStableFunc(commits, func(a, b index.Commit) int { return a.At.Compare(b.At) })
	for _, row := range commits {
		if _, known := f.commitAt[git.OID(row.OID)]; known {
			continue
		}
		c, err := f.Repo.Commit(ctx, row.OID) // it may name checkpoints of other turns as well
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			c = git.Commit{
				OID: git.OID(row.OID), Message: checkpoint.TrailerKey + ": " + row.Checkpoint,
				Author: git.Signature{Name: row.Author}, Committer: git.Signature{When: row.At},
			}
		}
		f.addCommit(c, row.Subject)
	}
	return nil
}

// addCommit adds a commit, and returns its checkpoints.
func (f *filling) addCommit(c git.Commit, subject string) (checkpoints []string) {
	for _, id := range checkpoint.IDsOf(c) {
		checkpoints = append(checkpoints, string(id))
	}
	f.commitAt[c.OID] = len(f.oids)
	f.oids = append(f.oids, c.OID)
	f.report.Commits = append(f.report.Commits, Commit{
		OID: string(c.OID), Subject: f.Redact.Text(subject), Author: f.Redact.Text(c.Author.Name),
		At: c.Committer.When.In(f.Env.Now().Location()), Checkpoints: checkpoints,
	})
	return checkpoints
}

// turns fills in the turns, except the differences of their files.
func (f *filling) turns(ctx context.Context) (err error) {
	f.progress("turns", 0, int64(len(f.rows)))
	if f.details, err = f.index.Details(ctx, f.rows); err != nil {
		return err
	}
	ids := map[string]bool{}
	unpriced := map[string]bool{}
	others := query.NewOthers(f.Repo)
	here := f.Env.Now().Location()
	for i := range f.rows {
		row, d := &f.rows[i], &f.details[i]
		t := Turn{
			ID: turnID(row, ids), Session: row.Session, Agent: row.Agent, Branch: row.Branch, At: row.At.In(here), Ended: row.Ended.In(here), Title: row.Prompt,
			Prompt: d.Texts[index.Prompt], Answer: d.Texts[index.Answer], Output: d.Texts[index.Output], Subagents: d.Texts[index.Subagent],
			Tokens: row.Tokens, SubagentTokens: row.Subagents, TakenBack: row.TakenBack,
			Show: "entire show " + row.Session,
		}
		if heading := transcript.PromptTitle(t.Prompt); heading != "" && heading != strings.TrimSpace(t.Prompt) { // of a plan
			t.Title = heading
		}
		if row.Context != "" {
			t.Show = "entire recall show " + row.Context
		} else if n := len(row.Checkpoints); n > 0 {
			t.Show = "entire show " + row.Checkpoints[n-1] + " --full"
		}
		for _, name := range others.In(row.Session, row.Line, row.End) {
			t.Others = append(t.Others, f.Redact.Text(name))
		}
		if row.Base > 0 {
			t.Before = bands.Version(row.Base).String()
			t.Back = "entire rewind " + t.Before
		}
		if row.Snapshot > 0 {
			t.After = bands.Version(row.Snapshot).String()
		}
		for _, s := range d.Spent {
			cost, priced := f.cost(s.Model, s.Tokens)
			if t.Cost += cost; !priced && s.Total() > 0 {
				unpriced[s.Model] = true
			}
		}
		for _, c := range d.Calls {
			t.Calls = append(t.Calls, Call{
				Tool: c.Tool, Text: c.Text, Subagent: c.Agent != "", Command: c.Command, Status: max(c.Status, 0),
				Outcome: c.Outcome, Test: c.Command && shellcmd.Split(c.Text).Checks().Tests() != 0,
			})
		}
		for _, c := range row.Commits {
			if at, found := f.commitAt[git.OID(c.OID)]; found && !slices.Contains(t.Commits, at) {
				t.Commits = append(t.Commits, at)
				f.report.Commits[at].Turns = append(f.report.Commits[at].Turns, i)
			}
		}
		f.report.Turns = append(f.report.Turns, t)
	}
	for model := range unpriced {
		f.report.Unpriced = append(f.report.Unpriced, model)
	}
	slices.Sort(f.report.Unpriced)
	return nil
}

// turnID returns the URL fragment of a turn: its session's id and its first line, which don't
// change.
func turnID(row *index.Row, taken map[string]bool) string {
	const most = 8
	session := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, row.Session)
	id := fmt.Sprintf("turn-%s-%d", session[:min(len(session), most)], row.Line)
	for n := 2; taken[id]; n++ {
		id = fmt.Sprintf("turn-%s-%d-%d", session[:min(len(session), most)], row.Line, n)
	}
	taken[id] = true
	return id
}

// RepositoryName returns the repository's name, that of its folder.
func RepositoryName(w *workspace.Workspace) string {
	root := w.Repo.MainRoot()
	if root == "" {
		root = w.Repo.CommonDir
	}
	return w.Redact.Path(strings.TrimSuffix(filepath.Base(root), ".git"))
}

// errStop ends a diff.
var errStop = errors.New("stop")
