// Package memory combines what the sessions of a repository left into one memory: what a branch is
// for, what is done there, and which facts still stand. All functions are pure.
package memory

import (
	"time"

	"github.com/seed-3aff656d/entire/strategy/recall"
)

// Memory is what earlier sessions left for a later one.
type Memory struct {
	// Format is the version of the JSON.
	Format int `json:"format"`
	// Branch is the branch that the memory is of, empty on a detached HEAD.
	Branch string `json:"branch,omitempty"`
	// Sessions are the sessions of the branch and of its pull requests, the latest first.
	Sessions []Source `json:"sessions,omitempty"`
	// Purpose are the requests with which these sessions began, the oldest first.
	Purpose []Quote `json:"purpose,omitempty"`
	// Done are their commits, the latest first.
	Done []Commit `json:"done,omitempty"`
	// Todo are the unfinished items and announced steps that no later session did, the oldest first.
	Todo []Quote `json:"todo,omitempty"`
	// Files are the files that they used, the latest first.
	Files []File `json:"files,omitempty"`
	// Facts are the facts that stand, the latest first, those of other branches included. A later
	// fact about the same thing replaces an earlier one.
	Facts []Fact `json:"facts,omitempty"`
}

// Source is a session of a memory.
type Source struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
	// Person is the person who ran it, empty for the reader's own sessions.
	Person string `json:"person,omitempty"`
}

// Quote is a text of a session.
type Quote struct {
	Text    string `json:"text"`
	Session string `json:"session"`
	Person  string `json:"person,omitempty"`
}

// Commit is a commit of a session.
type Commit struct {
	recall.Commit

	Session string `json:"session"`
}

// Fact is a fact with its session.
type Fact struct {
	recall.Fact

	Session string `json:"session"`
	Person  string `json:"person,omitempty"` // as in Source
	// Here reports whether the session is one of Sessions.
	Here bool `json:"here,omitempty"`
	// Sessions counts the sessions that say it, if there are several.
	Sessions int `json:"sessions,omitempty"`
	// Hashes are the contents of Files at the end of the session, in their order, as in recall.File;
	// empty where unknown. Commit was checked out then.
	Hashes []string `json:"hashes,omitempty"`
	Commit string   `json:"commit,omitempty"`
}

// File is a file and what sessions used it for.
type File struct {
	Path string `json:"path"`
	Use  Use    `json:"use"`
	Hash string `json:"hash,omitempty"` // as in recall.File
	// Session is the session that used it last.
	Session string `json:"session,omitempty"`
}

// Use is what a file was used for.
type Use string

// The uses.
const (
	Changed Use = "changed"
	Read    Use = "read"
)

// Session is what one session left. It is stored as JSON, the header on a line of its own.
type Session struct {
	Header
	Body
}

// Header is the part of a session that decides whether its body is read.
type Header struct {
	Format int       `json:"format"`
	ID     string    `json:"id"`
	At     time.Time `json:"at"` // of its latest event
	Person string    `json:"person,omitempty"`
	// Worktree is the root of its worktree, empty for the session of another person. Branch and
	// Commit are the HEAD at its end.
	Worktree string `json:"worktree,omitempty"`
	Branch   string `json:"branch,omitempty"`
	Commit   string `json:"commit,omitempty"`
	// PullRequests are numbers or URLs.
	PullRequests []string `json:"pull_requests,omitempty"`
	// Source is what the session was read from, if not from this machine's hooks.
	Source string `json:"source,omitempty"`
}

// Body is the rest of a session.
type Body struct {
	Requests []recall.Request `json:"requests,omitempty"`
	Commits  []recall.Commit  `json:"commits,omitempty"`
	// Passed are the commands whose last run passed.
	Passed []string      `json:"passed,omitempty"`
	Facts  []recall.Fact `json:"facts,omitempty"`
	Todo   []string      `json:"todo,omitempty"`
	Files  []File        `json:"files,omitempty"`
}

// format is the version of the JSON of Memory and Session.
const format = 1

// The limits.
const (
	maxPurpose  = 6
	maxDone     = 20
	maxTodo     = 12
	maxFiles    = 60
	maxFacts    = 120
	maxRequests = 3 // of a session
)

// SessionOf returns what a saved context has of its session.
func SessionOf(c recall.Checkpoint) Session {
	a, in := c.State.Analysis, c.State.Context
	s := Session{Header: Header{
		Format: format, At: c.CreatedAt, Person: c.Person, Worktree: c.Worktree, Branch: in.GitBranch, Commit: in.GitCommit,
		PullRequests: a.Progress.PullRequests,
	}}
	if len(c.Sessions) > 0 {
		s.ID = c.Sessions[0]
	}
	words := recall.NewWords()
	for _, r := range a.Requests {
		if words.NamesSubject(r.Text) && len(s.Requests) < maxRequests {
			s.Requests = append(s.Requests, recall.Request{Number: r.Number, Text: cut(r.Text), RepliesTo: r.RepliesTo})
		}
	}
	s.Commits = a.Progress.Commits[:min(len(a.Progress.Commits), maxDone)]
	for _, command := range in.Commands {
		if command.Result == recall.Passed {
			s.Passed = append(s.Passed, command.Text)
		}
	}
	s.Facts = a.Facts
	for _, t := range a.Todo {
		s.Todo = append(s.Todo, t.Text)
	}
	for _, step := range a.NextSteps {
		if !contains(s.Todo, step) {
			s.Todo = append(s.Todo, step)
		}
	}
	s.Todo = s.Todo[:min(len(s.Todo), maxTodo)]
	used := map[string]bool{}
	for _, u := range in.FileUses { // the most recently used first
		f, changed := c.State.Files[u.Path]
		use := Read
		if changed {
			use = Changed
		}
		if len(s.Files) < maxFiles {
			s.Files, used[u.Path] = append(s.Files, File{Path: u.Path, Use: use, Hash: f.Hash}), true
		}
	}
	for path, f := range c.State.Files {
		if !used[path] && len(s.Files) < 2*maxFiles {
			s.Files = append(s.Files, File{Path: path, Use: Changed, Hash: f.Hash})
		}
	}
	sortFiles(s.Files[len(used):])
	return s
}
