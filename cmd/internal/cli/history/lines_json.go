package history

import (
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/blame"
)

// blameJSON is the output of `blame --json`; docs/formats/blame.md describes it.
type blameJSON struct {
	Path    string           `json:"path"`
	Rev     string           `json:"rev"`
	Authors []authorJSON     `json:"authors"`
	Commits []lineCommitJSON `json:"commits"`
	Lines   []lineJSON       `json:"lines"`
	// Missing is what the clone lacks to determine the authors of unknown lines.
	Missing []format.GapJSON `json:"missing,omitempty"`
}

type authorJSON struct {
	Kind       string        `json:"kind"`
	Name       string        `json:"name,omitempty"`
	Agent      string        `json:"agent,omitempty"`
	Session    string        `json:"session,omitempty"`
	Checkpoint string        `json:"checkpoint,omitempty"`
	Turn       *lineTurnJSON `json:"turn,omitempty"`
	Call       string        `json:"call,omitempty"`
	Subagent   string        `json:"subagent,omitempty"`
	Type       string        `json:"subagent_type,omitempty"`
	Derived    bool          `json:"derived,omitempty"`
	Imported   bool          `json:"imported,omitempty"`
	Reason     string        `json:"reason,omitempty"`
	Commit     string        `json:"commit,omitempty"`
}

type lineTurnJSON struct {
	ID     string `json:"id,omitempty"`
	Prompt string `json:"prompt,omitempty"`
	Line   int    `json:"line"`
	Number int    `json:"number,omitempty"`
}

type lineCommitJSON struct {
	OID     string    `json:"oid"`
	Subject string    `json:"subject"`
	Author  string    `json:"author"`
	Email   string    `json:"email"`
	Date    time.Time `json:"date"`
}

type lineJSON struct {
	Line     int    `json:"line"`
	Author   int    `json:"author"` // an index in authors
	Commit   string `json:"commit,omitempty"`
	Path     string `json:"path"`
	OrigLine int    `json:"original_line"`
	Text     string `json:"text"`
}

func newAuthorJSON(a *blame.Author) authorJSON {
	j := authorJSON{
		Kind: string(a.Kind), Name: a.Name, Agent: a.Agent, Session: a.Session, Checkpoint: string(a.Checkpoint),
		Call: a.Call, Subagent: a.Subagent, Type: a.Type, Derived: a.Derived, Imported: a.Imported, Reason: a.Basis.Text(), Commit: string(a.Commit),
	}
	if a.Turn.ID+a.Turn.Title != "" || a.Number > 0 {
		j.Turn = &lineTurnJSON{ID: a.Turn.ID, Prompt: a.Turn.Title, Line: a.Turn.Line, Number: a.Number}
	}
	return j
}

func newCommitJSON(c git.Commit) lineCommitJSON {
	return lineCommitJSON{OID: string(c.OID), Subject: plain.FirstLine(c.Message), Author: c.Author.Name, Email: c.Author.Email, Date: format.UTC(c.Committer.When)}
}

func newBlameJSON(f *blame.File, missing []format.GapJSON) blameJSON {
	out := blameJSON{Path: f.Path, Rev: f.Rev, Authors: []authorJSON{}, Commits: []lineCommitJSON{}, Lines: []lineJSON{}, Missing: missing}
	place := map[*blame.Author]int{}
	for _, l := range f.Lines {
		if _, known := place[l.Author]; !known {
			place[l.Author] = len(out.Authors)
			out.Authors = append(out.Authors, newAuthorJSON(l.Author))
		}
		if l.Commit != "" && !slices.ContainsFunc(out.Commits, func(c lineCommitJSON) bool { return c.OID == string(l.Commit) }) {
			out.Commits = append(out.Commits, newCommitJSON(f.Commits[l.Commit]))
		}
		out.Lines = append(out.Lines, lineJSON{
			Line: l.Number, Author: place[l.Author], Commit: string(l.Commit), Path: l.Path, OrigLine: l.Orig, Text: l.Text,
		})
	}
	return out
}
