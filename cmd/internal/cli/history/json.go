package history

import (
	"time"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/index"
)

// turnJSON is a turn; docs/formats/ask.md describes it.
type turnJSON struct {
	Session     string       `json:"session"`
	Agent       string       `json:"agent,omitempty"`
	Worktree    string       `json:"worktree,omitempty"`
	Branch      string       `json:"branch,omitempty"`
	Author      string       `json:"author,omitempty"`
	At          time.Time    `json:"at,omitzero"`
	Ended       time.Time    `json:"ended,omitzero"`
	Prompt      string       `json:"prompt"`
	Context     string       `json:"context,omitempty"`
	Line        int          `json:"line"`
	EndLine     int          `json:"end_line"`
	Files       int          `json:"files"`
	Added       int          `json:"added"`
	Removed     int          `json:"removed"`
	Commands    int          `json:"commands"`
	Failed      int          `json:"failed"`
	Tokens      tokensJSON   `json:"tokens"`
	Subagents   tokensJSON   `json:"subagent_tokens"`
	Checkpoints []string     `json:"checkpoints"`
	Commits     []commitJSON `json:"commits"`
	Imported    bool         `json:"imported,omitempty"`
	Before      string       `json:"version_before,omitempty"`
	Version     string       `json:"version,omitempty"`
	TakenBack   bool         `json:"taken_back,omitempty"`
	Command     string       `json:"command"`
}

type tokensJSON struct {
	Input      int64 `json:"input"`
	CacheWrite int64 `json:"cache_write"`
	CacheRead  int64 `json:"cache_read"`
	Output     int64 `json:"output"`
}

type commitJSON struct {
	Commit     string    `json:"commit"`
	Checkpoint string    `json:"checkpoint"`
	At         time.Time `json:"at"`
	Author     string    `json:"author"`
	Subject    string    `json:"subject"`
	Derived    bool      `json:"derived,omitempty"`
	Imported   bool      `json:"imported,omitempty"`
}

func newTokensJSON(t index.Tokens) tokensJSON {
	return tokensJSON{Input: t.Input, CacheWrite: t.CacheWrite, CacheRead: t.CacheRead, Output: t.Output}
}

func newTurnJSON(r *index.Row) turnJSON {
	j := turnJSON{
		Session: r.Session, Agent: r.Agent, Worktree: r.Worktree, Branch: r.Branch, Author: r.Person, At: utc(r.At), Ended: utc(r.Ended), Prompt: r.Prompt, Context: r.Context,
		Line: r.Line, EndLine: r.End, Files: r.Files, Added: r.Added, Removed: r.Removed, Commands: r.Commands, Failed: r.Failed,
		Tokens: newTokensJSON(r.Tokens), Subagents: newTokensJSON(r.Subagents), Checkpoints: format.NotNil(r.Checkpoints), Commits: []commitJSON{}, Imported: r.Imported,
		Before: version(r.Base), Version: version(r.Snapshot), TakenBack: r.TakenBack, Command: commandOf(r),
	}
	for _, c := range r.Commits {
		j.Commits = append(j.Commits, commitJSON{Commit: c.OID, Checkpoint: c.Checkpoint, At: utc(c.At), Author: c.Author, Subject: c.Subject, Derived: c.Derived, Imported: c.Imported})
	}
	return j
}

func utc(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return format.UTC(t)
}
