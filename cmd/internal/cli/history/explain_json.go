package history

import (
	"context"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/blame"
	"github.com/seed-3aff656d/entire/strategy/query"
)

// These types are the output of `explain --json`; docs/formats/explain.md describes it.

// explainHeadJSON and explainEndJSON come before and after the checkpoints of the list.
type explainHeadJSON struct {
	Branch  string `json:"branch"`
	Session string `json:"session,omitempty"`
}

type explainEndJSON struct {
	Missing []checkpoint.ID `json:"missing"`
	Shallow bool            `json:"shallow,omitempty"`
}

type explainPointJSON struct {
	ID        string              `json:"id"`
	Temporary bool                `json:"temporary"`
	Task      bool                `json:"task"`
	Sessions  []string            `json:"sessions"`
	Agent     string              `json:"agent,omitempty"`
	Model     string              `json:"model,omitempty"`
	Prompt    string              `json:"prompt,omitempty"`
	Absent    bool                `json:"absent,omitempty"`
	CreatedAt time.Time           `json:"created_at,omitzero"`
	Files     []string            `json:"files_touched"`
	Tokens    *checkpoint.Tokens  `json:"token_usage,omitempty"`
	Commits   []explainCommitJSON `json:"commits"`
	// AgentLines and TotalLines, and the lines removed without a replacement, are absent if the
	// authors of the lines aren't recorded. UnknownLines are the lines of TotalLines whose author the
	// record leaves open.
	AgentLines   *int `json:"agent_lines,omitempty"`
	UnknownLines int  `json:"unknown_lines,omitempty"`
	TotalLines   *int `json:"total_lines,omitempty"`
	AgentRemoved *int `json:"agent_removed,omitempty"`
	TotalRemoved *int `json:"total_removed,omitempty"`
}

type explainCommitJSON struct {
	OID     git.OID   `json:"oid"`
	Subject string    `json:"subject"`
	Author  string    `json:"author"`
	Email   string    `json:"email"`
	Date    time.Time `json:"date"`
}

type explainedJSON struct {
	// Derived reports that the commit names none of the checkpoints, but has lines of them.
	Derived bool `json:"derived,omitempty"`
	// Imported reports that an import linked the commit.
	Imported    bool                `json:"imported,omitempty"`
	Commit      *explainCommitJSON  `json:"commit,omitempty"`
	Checkpoints []explainDetailJSON `json:"checkpoints"`
	// Merged holds the checkpoints of the commits that a merge brings in.
	Merged  []explainPointJSON `json:"merged,omitempty"`
	Missing []checkpoint.ID    `json:"missing"`
	// Reason is why a commit has no checkpoint, as far as it is known.
	Reason string `json:"reason,omitempty"`
	// Shallow reports that the clone lacks the commits that a merge brings in.
	Shallow bool `json:"shallow,omitempty"`
}

type explainDetailJSON struct {
	ID        string              `json:"id"`
	Temporary bool                `json:"temporary"`
	Task      bool                `json:"task"`
	Forgotten bool                `json:"forgotten,omitempty"`
	Absent    bool                `json:"absent,omitempty"`
	Strategy  string              `json:"strategy,omitempty"`
	Branch    string              `json:"branch,omitempty"`
	CreatedAt time.Time           `json:"created_at,omitzero"`
	Author    string              `json:"author,omitempty"`
	Email     string              `json:"email,omitempty"`
	Files     []string            `json:"files_touched"`
	Tokens    *checkpoint.Tokens  `json:"token_usage,omitempty"`
	Edited    *explainEditedJSON  `json:"edited_lines,omitempty"`
	Commits   []explainCommitJSON `json:"commits"`
	// Unsearched is the reason why not all commits are known.
	Unsearched string               `json:"commits_problem,omitempty"`
	Sessions   []explainSessionJSON `json:"sessions"`
}

type explainEditedJSON struct {
	Edited int `json:"edited"`
	Added  int `json:"added"`
}

type explainSessionJSON struct {
	ID          string                     `json:"id"`
	Agent       string                     `json:"agent,omitempty"`
	Model       string                     `json:"model,omitempty"`
	CreatedAt   time.Time                  `json:"created_at,omitzero"`
	Files       []string                   `json:"files_touched"`
	Tokens      *checkpoint.Tokens         `json:"token_usage,omitempty"`
	Others      []string                   `json:"other_repositories,omitempty"`
	Intent      string                     `json:"intent,omitempty"`
	Outcome     string                     `json:"outcome,omitempty"`
	Summary     *checkpoint.SessionSummary `json:"summary,omitempty"`
	Attribution *checkpoint.Attribution    `json:"initial_attribution,omitempty"`
	NothingNew  bool                       `json:"nothing_new,omitempty"`
	RecordedBy  string                     `json:"attribution_recorded_by,omitempty"`
	Imported    bool                       `json:"imported,omitempty"`
	// Problem is the reason why data of the session is missing.
	Problem string `json:"problem,omitempty"`
	// Transcript is omitted with --short.
	Transcript []explainItemJSON `json:"transcript,omitempty"`
}

type explainItemJSON struct {
	Role   transcript.Speaker `json:"role"`
	Tool   string             `json:"tool,omitempty"`
	Text   string             `json:"text"`
	Failed bool               `json:"failed,omitempty"`
	// Command is the whole command, with --full.
	Command    string             `json:"command,omitempty"`
	ExitStatus *int               `json:"exit_status,omitempty"`
	Output     *explainOutputJSON `json:"output,omitempty"`
	Line       int                `json:"line"`
	Time       *time.Time         `json:"time,omitempty"`
	// Subagent is the conversation of the subagent that a tool call started.
	Subagent []explainItemJSON `json:"subagent,omitempty"`
}

type explainOutputJSON struct {
	Head    []string `json:"head"`
	Tail    []string `json:"tail,omitempty"`
	Omitted int      `json:"omitted_lines"`
}

func newExplainPoint(p *query.ExplainPoint) explainPointJSON {
	j := explainPointJSON{
		ID: p.ID, Temporary: p.Temporary, Task: p.Task, Sessions: format.NotNil(p.Sessions), Agent: p.Agent, Model: p.Model, Prompt: p.Prompt, Absent: p.Absent,
		CreatedAt: format.UTC(p.Date), Files: format.NotNil(p.Files), Tokens: p.Tokens, Commits: newExplainCommits(p.Commits),
	}
	if a := p.Attribution; a != nil {
		j.AgentLines, j.UnknownLines, j.TotalLines = &a.AgentLines, a.UnknownLines, &a.TotalCommitted
		removed := a.AgentRemoved + a.HumanRemoved
		j.AgentRemoved, j.TotalRemoved = &a.AgentRemoved, &removed
	}
	return j
}

// json prints the checkpoints of a commit, or a single checkpoint, as JSON.
func (e *explaining) json(ctx context.Context, of query.OfCommit) error {
	j := explainedJSON{Checkpoints: []explainDetailJSON{}, Missing: format.NotNil(of.Missing), Shallow: of.Cut, Derived: of.Derived, Imported: of.Imported}
	if of.Commit.OID != "" {
		j.Commit = &newExplainCommits([]git.Commit{of.Commit})[0]
	}
	if len(of.Checkpoints)+len(of.Missing)+len(of.Points) == 0 && !of.Cut && of.Commit.OID != "" {
		author, err := blame.Reader{Repo: e.reader.Repo}.Unlinked(ctx, of.Commit)
		if err != nil {
			return err
		}
		j.Reason = author.Basis.Text()
	}
	for _, p := range of.Points {
		j.Merged = append(j.Merged, newExplainPoint(&p))
	}
	for _, d := range of.Checkpoints {
		detail := explainDetailJSON{
			ID: d.ID, Temporary: d.Temporary, Task: d.Task, Forgotten: d.Forgotten, Absent: d.Absent, Strategy: d.Strategy, Branch: d.Branch, CreatedAt: format.UTC(d.Created),
			Author: d.Author.Name, Email: d.Author.Email, Files: format.NotNil(d.Files), Tokens: d.Tokens,
			Commits: newExplainCommits(d.Commits), Sessions: []explainSessionJSON{},
		}
		if d.Unsearched != nil {
			detail.Unsearched = d.Unsearched.Error()
		}
		if s, ok := e.edited[d.ID]; ok {
			detail.Edited = &explainEditedJSON{Edited: s.Agent, Added: s.Total()}
		}
		for _, t := range d.Sessions {
			s := explainSessionJSON{
				ID: t.Session, Agent: t.Agent, Model: t.Model, CreatedAt: format.UTC(t.Created), Files: format.NotNil(t.Files), Tokens: t.Tokens, Others: t.Others,
				Intent: t.Intent, Outcome: t.Outcome, Summary: t.Summary,
				NothingNew: t.NothingNew, RecordedBy: t.Recorder, Imported: t.Imported,
			}
			if t.Attribution != nil {
				shown := *t.Attribution
				shown.CalculatedAt = format.UTC(shown.CalculatedAt)
				s.Attribution = &shown
			}
			if t.Problem != nil {
				s.Problem = problemText(t)
			}
			if !e.opts.short {
				s.Transcript = newExplainItems(t.Items)
				for i, item := range t.Items {
					s.Transcript[i].Subagent = newExplainItems(t.Subagents[item.ID])
				}
			}
			detail.Sessions = append(detail.Sessions, s)
		}
		j.Checkpoints = append(j.Checkpoints, detail)
	}
	return e.Streams.JSONOf(j, "checkpoints")
}

func newExplainItems(items []transcript.Item) []explainItemJSON {
	list := make([]explainItemJSON, 0, len(items))
	for _, item := range items {
		i := explainItemJSON{Role: item.By, Tool: item.Tool, Text: item.Text, Failed: item.Failed, Command: item.Command, ExitStatus: item.ExitStatus, Line: item.Line}
		if o := item.Output; len(o.Head) > 0 {
			i.Output = &explainOutputJSON{Head: o.Head, Tail: o.Tail, Omitted: o.Omitted}
		}
		if !item.Time.IsZero() {
			at := format.UTC(item.Time)
			i.Time = &at
		}
		list = append(list, i)
	}
	return list
}

func newExplainCommits(commits []git.Commit) []explainCommitJSON {
	list := make([]explainCommitJSON, 0, len(commits))
	for _, c := range commits {
		list = append(list, explainCommitJSON{
			OID: c.OID, Subject: plain.FirstLine(c.Message), Author: c.Author.Name, Email: c.Author.Email, Date: format.UTC(c.Committer.When),
		})
	}
	return list
}
