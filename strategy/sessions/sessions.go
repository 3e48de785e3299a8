// Package sessions lists the sessions recorded in a repository: those of all worktrees whose
// state is kept between hooks, and those of stored checkpoints, both local and fetched ones.
//
// It writes nothing.
package sessions

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitlog"
	"github.com/seed-3aff656d/entire/internal/git/gitref"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/session/transcript/prompts"
)

// LeastPrefix is the minimum length of an abbreviated session id.
const LeastPrefix = 4

// Phase is the phase that a session is in.
type Phase string

// The phases.
const (
	Active Phase = "active" // its turn runs
	Idle   Phase = "idle"   // it is open, between two turns
	Ended  Phase = "ended"
	// Gone sessions did not end, but their agent's process exited.
	Gone Phase = "gone"
	// Stored sessions are known only from their checkpoints: they ran elsewhere, or their
	// state was removed here.
	Stored Phase = "stored"
)

// Session is one session.
type Session struct {
	ID    string
	Phase Phase
	Agent string // empty if it isn't known
	// Worktree is the path of the worktree that it runs in, empty if it is Stored.
	Worktree string
	// Branch is the branch checked out there or, for a session that isn't open, that of the
	// newest checkpoint; empty on a detached HEAD, or if it isn't known.
	Branch string
	// Started and LastActive are zero if they aren't known.
	Started, LastActive time.Time
	// Prompt is the first request, in one line, and Turns the number of requests. For a Stored
	// session, Complete sets both.
	Prompt string
	Turns  int
	// Files are the files of its checkpoints, and the pending ones, sorted.
	Files []string
	// Checkpoints are the checkpoints of its commits, the newest first.
	Checkpoints []checkpoint.ID
	Tokens      session.Tokens
	// Transcript is the path of the agent's own file, empty if it isn't known.
	Transcript string

	newest checkpoint.Stored // its part of the first of Checkpoints
}

// Total returns the number of tokens that a session used, including those of subagents.
func (s *Session) Total() int64 {
	n := int64(0)
	for t := &s.Tokens; t != nil; t = t.Subagents {
		n += t.Input + t.CacheCreation + t.CacheRead + t.Output
	}
	return n
}

// Reader lists the sessions of a repository.
type Reader struct {
	Repo *git.Repo
	// Alive reports whether the process with that id and start time runs.
	Alive func(pid int, start uint64) bool
	// Locate is how repositories are found, without the directory.
	Locate git.Locate
	// Progress is called with the number of checkpoints read, unless it is nil.
	Progress func(done, total int64)
}

// List returns all sessions, the last active one first. Unreadable parts of states are left
// out and returned as errors beside the list; unreadable checkpoints are left out.
func (r Reader) List(ctx context.Context) (list []Session, unread []error, err error) {
	byID := map[string]*Session{}
	store := session.Open(r.Repo.CommonDir)
	states, unread := store.All()
	branches := map[string]string{}
	for _, state := range states {
		s := &Session{
			ID: state.ID, Phase: PhaseOf(state, r.Alive), Agent: state.AgentType, Worktree: state.WorktreePath, Started: state.StartedAt,
			LastActive: state.StartedAt, Prompt: state.FirstPrompt, Files: slices.Clone(state.FilesTouched), Tokens: state.Total(),
			Transcript: state.TranscriptPath,
		}
		for _, at := range []*time.Time{state.LastInteraction, state.EndedAt} {
			if at != nil && at.After(s.LastActive) {
				s.LastActive = *at
			}
		}
		if _, known := branches[s.Worktree]; !known && s.Phase != Ended {
			branches[s.Worktree] = BranchOf(ctx, r.Repo, r.Locate, s.Worktree)
		}
		if s.Phase != Ended {
			s.Branch = branches[s.Worktree]
		}
		prompts, err := store.SideOf(state, session.PromptsKind).Read(state.Recorder.Prompts)
		if err != nil {
			unread = append(unread, fmt.Errorf("session %s: %w", s.ID, err))
		}
		s.Turns = bytes.Count(prompts, []byte{'\n'}) // a line each
		byID[s.ID] = s
	}
	if err := r.addCheckpoints(ctx, byID); err != nil {
		return nil, nil, err
	}
	for _, s := range byID {
		slices.Sort(s.Files)
		s.Files = slices.Compact(s.Files)
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b Session) int {
		return cmp.Or(b.LastActive.Compare(a.LastActive), strings.Compare(a.ID, b.ID))
	})
	return list, unread, nil
}

// Find returns the sessions whose ids begin with prefix, in the order of List.
func (r Reader) Find(ctx context.Context, prefix string) ([]Session, error) {
	if len(prefix) < LeastPrefix {
		return nil, nil
	}
	list, _, err := r.List(ctx)
	return slices.DeleteFunc(list, func(s Session) bool { return !strings.HasPrefix(s.ID, prefix) }), err
}

// Named reports whether Find may return a session for prefix, without reading checkpoints,
// from the states and the messages on the metadata branches. It misses a session that is only
// on a branch without messages, such as a squashed one.
func (r Reader) Named(ctx context.Context, prefix string) (bool, error) {
	states, _ := session.Open(r.Repo.CommonDir).All()
	if slices.ContainsFunc(states, func(s *session.State) bool { return strings.HasPrefix(s.ID, prefix) }) {
		return true, nil
	}
	messages, err := gitlog.Messages(ctx, r.Repo, checkpoint.SessionKey+": "+prefix, checkpoint.BranchesAsRevisions()...)
	return len(messages) > 0, err
}

// Complete reads the fields of a Stored session that List leaves out.
func (r Reader) Complete(ctx context.Context, s *Session) error {
	if s.Phase != Stored {
		return nil
	}
	stored, err := s.newest.Prompts(ctx, r.Repo)
	if err != nil && !errors.Is(err, git.ErrMissing) {
		return fmt.Errorf("session %s: %w", s.ID, err)
	}
	s.Turns = len(stored)
	for _, prompt := range stored {
		if s.Prompt = prompts.Title(prompt); s.Prompt != "" {
			return nil
		}
	}
	if len(stored) > 0 {
		s.Prompt = checkpoint.FirstPrompt(stored[0])
	}
	return nil
}

// PhaseOf returns the phase of a session with a state.
func PhaseOf(s *session.State, alive func(pid int, start uint64) bool) Phase {
	agent := s.Recorder.Agent
	switch {
	case s.EndedAt != nil || s.Phase == session.Ended:
		return Ended
	case agent.PID != 0 && !alive(agent.PID, agent.Start):
		return Gone
	case s.Phase == session.Active:
		return Active
	default:
		return Idle
	}
}

// addCheckpoints adds the sessions in the checkpoints of all metadata branches.
func (r Reader) addCheckpoints(ctx context.Context, byID map[string]*Session) error {
	trees, err := checkpoint.Trees(ctx, r.Repo)
	if err != nil {
		return err
	}
	parts, read := map[string][]part{}, map[checkpoint.ID]bool{}
	for _, tree := range trees {
		ids, err := checkpoint.Find(ctx, r.Repo, tree, "")
		if err != nil {
			return err
		}
		for i, id := range ids {
			if r.Progress != nil {
				r.Progress(int64(i), int64(len(ids)))
			}
			if read[id] {
				continue
			}
			c, err := checkpoint.ReadAvailable(ctx, r.Repo, tree, id)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				continue // skip it, but not the others
			}
			read[id] = true
			for _, stored := range c.Sessions {
				if name := transcript.SessionID(stored.Meta.SessionID); session.CheckID(name) == nil {
					parts[name] = append(parts[name], part{id, stored})
				}
			}
		}
	}
	for name, of := range parts {
		s := byID[name]
		if s == nil {
			s = &Session{ID: name, Phase: Stored}
			byID[name] = s
		}
		s.add(of)
	}
	return nil
}

// part is a session's part of a checkpoint.
type part struct {
	id     checkpoint.ID
	stored checkpoint.Stored
}

// add adds the session's parts of checkpoints.
func (s *Session) add(parts []part) {
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(b.stored.Meta.CreatedAt.Compare(a.stored.Meta.CreatedAt), strings.Compare(string(a.id), string(b.id)))
	})
	var sum session.Tokens
	for _, p := range parts {
		s.Files = append(s.Files, p.stored.Meta.FilesTouched...)
		if !slices.Contains(s.Checkpoints, p.id) {
			s.Checkpoints = append(s.Checkpoints, p.id)
		}
		if t := p.stored.Meta.TokenUsage; t != nil {
			sum = sum.Plus(*t)
		}
	}
	s.newest = parts[0].stored
	newest, oldest := &s.newest.Meta, &parts[len(parts)-1].stored.Meta
	s.Agent = cmp.Or(s.Agent, newest.Agent)
	if s.Phase == Stored || s.Phase == Ended {
		s.Branch = newest.Branch
	}
	if s.Phase != Stored {
		return
	}
	s.Started, s.LastActive, s.Tokens = oldest.CreatedAt, newest.CreatedAt, sum
	if total := newest.SessionTokenUsage; total != nil { // of the whole session
		s.Tokens = *total
	}
}

// BranchOf returns the branch that is checked out in a worktree of the repository; empty if
// none is, or the worktree doesn't exist.
func BranchOf(ctx context.Context, repo *git.Repo, how git.Locate, root string) string {
	if root != repo.Root {
		if !filepath.IsAbs(root) {
			return ""
		}
		how.Dir = root
		other, err := git.Discover(how)
		if err != nil {
			return ""
		}
		defer func() { _ = other.Close() }()
		repo = other
	}
	branch, err := gitref.HeadBranch(ctx, repo)
	if err != nil {
		return ""
	}
	return branch
}
