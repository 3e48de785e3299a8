package query

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
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
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
	// Title is its own title, in one line, empty if it has none.
	Title string
	// Prompt is the first request, in one line, and Turns the number of requests.
	Prompt string
	Turns  int
	// Files are the files that its turns changed, and the pending ones, sorted.
	Files []string
	// Checkpoints are its checkpoints, the newest first: those of its commits, and Unlinked others with the
	// part of an imported session that no commit has.
	Checkpoints []checkpoint.ID
	Unlinked    int
	// Imported reports that it is known by imported checkpoints alone.
	Imported bool
	// Persons are the names, else the addresses, of the persons in whose clones its checkpoints were
	// recorded, in the order of their first ones, as far as they are known.
	Persons []string
	Tokens  session.Tokens
	// Transcript is the path of the agent's own file, empty if it isn't known.
	Transcript string
}

// Total returns the number of tokens that a session used, including those of subagents.
func (s *Session) Total() int64 {
	n := int64(0)
	for t := &s.Tokens; t != nil; t = t.Subagents {
		n += t.Input + t.CacheCreation + t.CacheRead + t.Output
	}
	return n
}

// Commits returns the number of its checkpoints that are of commits.
func (s *Session) Commits() int { return len(s.Checkpoints) - s.Unlinked }

// SessionReader lists the sessions of a repository.
type SessionReader struct {
	Repo *git.Repo
	// Alive reports whether the process with that id and start time runs.
	Alive func(pid int, start uint64) bool
	// Locate is how repositories are found, without the directory.
	Locate git.Locate
	// Index opens the index. If it returns index.ErrLost, only sessions with a state are listed,
	// with what their states have.
	Index func(ctx context.Context) (*index.Reader, error)
}

// SessionFilter selects sessions; an empty field selects all.
type SessionFilter struct {
	// Prefix is the beginning of an id.
	Prefix string
	// Agent reports whether sessions of an agent are selected.
	Agent func(name string) bool
	// Person is a part of the name or the address of a person in whose clone one of its checkpoints was recorded.
	Person string
	// Limit is the maximum number of sessions, 0 for none.
	Limit int
}

// FoundSessions are sessions, the last active one first.
type FoundSessions struct {
	Sessions []Session
	// More is the number of selected sessions beyond the limit.
	More int
	// Unread are the errors of unreadable parts of states, which are left out.
	Unread []error
	// Linked reports that commits name checkpoints.
	Linked bool
}

// List returns the selected sessions. What is known from their conversations and checkpoints is
// read from the index. Checkpoints that the index lacks because they can't be read are left out.
func (r SessionReader) List(ctx context.Context, f SessionFilter) (found FoundSessions, err error) {
	store := session.Open(r.Repo.CommonDir)
	states, unread := store.All()
	found.Unread = unread
	x, err := r.Index(ctx)
	switch {
	case errors.Is(err, index.ErrLost):
		x = nil
	case err != nil:
		return FoundSessions{}, err
	default:
		defer func() { err = errors.Join(err, x.Close()) }()
		if found.Linked, err = x.Linked(ctx); err != nil {
			return FoundSessions{}, err
		}
	}
	names := session.IDs(states) // of all states: their sessions aren't Stored
	var only []string            // the ids of the sessions of the author, nil for all
	if f.Person != "" {
		if x != nil {
			if only, err = x.SessionsOf(ctx, f.Person); err != nil {
				return FoundSessions{}, err
			}
		}
		only = append(only, "") // never nil
		states = slices.DeleteFunc(states, func(s *session.State) bool { return !slices.Contains(only, s.ID) })
	}
	states = slices.DeleteFunc(states, func(s *session.State) bool {
		return !strings.HasPrefix(s.ID, f.Prefix) || f.Agent != nil && s.AgentType != "" && !f.Agent(s.AgentType)
	})
	slices.SortFunc(states, func(a, b *session.State) int {
		return cmp.Or(lastActive(b).Compare(lastActive(a)), strings.Compare(a.ID, b.ID))
	})
	limit := cmp.Or(f.Limit, -1)
	if limit > 0 && len(states) > limit {
		found.More = len(states) - limit
		states = states[:limit]
	}
	list, err := r.withState(ctx, x, store, states, &found)
	if err != nil {
		return FoundSessions{}, err
	}
	if f.Agent != nil {
		list = slices.DeleteFunc(list, func(s Session) bool { return !f.Agent(s.Agent) })
	}
	var rows []index.StoredSession
	total := 0
	if x != nil {
		rows, total, err = x.Sessions(ctx, index.SessionFilter{Names: only, Without: names, Prefix: f.Prefix, Agent: f.Agent, Stored: true}, limit)
	}
	if err != nil {
		return FoundSessions{}, err
	}
	found.More += total - len(rows)
	for i := range rows {
		list = append(list, stored(&rows[i]))
	}
	slices.SortFunc(list, func(a, b Session) int {
		return cmp.Or(b.LastActive.Compare(a.LastActive), strings.Compare(a.ID, b.ID))
	})
	if limit > 0 && len(list) > limit {
		found.More += len(list) - limit
		list = list[:limit]
	}
	found.Sessions = list
	return found, nil
}

// withState returns the sessions of states.
func (r SessionReader) withState(ctx context.Context, x *index.Reader, store *session.Store, states []*session.State, found *FoundSessions) ([]Session, error) {
	names := session.IDs(states)
	var rows []index.StoredSession
	if x != nil {
		var err error
		if rows, _, err = x.Sessions(ctx, index.SessionFilter{Names: names}, -1); err != nil {
			return nil, err
		}
	}
	byName := make(map[string]*index.StoredSession, len(rows))
	for i := range rows {
		byName[rows[i].Name] = &rows[i]
	}
	list := make([]Session, 0, len(states))
	branches := map[string]string{}
	for _, state := range states {
		s := Session{
			ID: state.ID, Phase: PhaseOf(state, r.Alive), Agent: state.AgentType, Worktree: state.WorktreePath, Started: state.StartedAt,
			LastActive: lastActive(state), Prompt: state.FirstPrompt, Files: slices.Clone(state.FilesTouched), Tokens: state.Total(),
			Transcript: state.TranscriptPath,
		}
		if _, known := branches[s.Worktree]; !known && s.Phase != Ended {
			branches[s.Worktree] = BranchOf(ctx, r.Repo, r.Locate, s.Worktree)
		}
		if s.Phase != Ended {
			s.Branch = branches[s.Worktree]
		}
		records, err := store.SideOf(state, session.PromptsKind).Read(state.Recorder.Prompts)
		if err != nil {
			found.Unread = append(found.Unread, fmt.Errorf("session %s: %w", s.ID, err))
		}
		s.Turns = bytes.Count(records, []byte{'\n'}) // a line each
		if row := byName[s.ID]; row != nil {
			s.add(row)
			// The state counts copied prompts, and not those from before a continued session was recorded.
			if row.Copied || row.Turns > s.Turns {
				s.Turns = row.Turns
			}
			// The state has no accepted plan, and of a session that began with a reply only that until the
			// next prompt.
			if first := transcript.FirstPrompt(row.Prompts); first != "" && !transcript.IsBetterTitle(s.Prompt, first) {
				s.Prompt = first
			}
			if s.Phase == Ended {
				s.Branch = row.Branch
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// lastActive returns the time of the last event of a session with a state.
func lastActive(state *session.State) time.Time {
	last := state.StartedAt
	for _, at := range []*time.Time{state.LastInteraction, state.EndedAt} {
		if at != nil && at.After(last) {
			last = *at
		}
	}
	return last
}

// stored returns a session that is known only from its checkpoints.
func stored(row *index.StoredSession) Session {
	s := Session{ID: row.Name, Phase: Stored, Branch: row.Branch, Started: row.First, LastActive: row.Last, Turns: row.Turns, Imported: row.Imported}
	s.add(row)
	s.Prompt = transcript.FirstPrompt(row.Prompts)
	return s
}

// add adds what the index has of the session.
func (s *Session) add(row *index.StoredSession) {
	s.Agent, s.Title = cmp.Or(s.Agent, row.Agent), row.Title
	s.Files = append(s.Files, row.Files...)
	slices.Sort(s.Files)
	s.Files = slices.Compact(s.Files)
	for _, name := range row.Checkpoints {
		s.Checkpoints = append(s.Checkpoints, checkpoint.ID(name))
	}
	s.Persons, s.Unlinked = row.Persons, row.Unlinked
	if len(row.Spent) > 0 {
		s.Tokens = tokens(row.Spent)
	}
}

// tokens returns the sum of a session's usage.
func tokens(list []index.Spent) (sum session.Tokens) {
	for _, u := range list {
		used := session.Tokens{Input: u.Input, CacheCreation: u.CacheWrite, CacheRead: u.CacheRead, Output: u.Output, Calls: u.Messages}
		if u.Subagent {
			sum = sum.Plus(session.Tokens{Subagents: &used})
		} else {
			sum = sum.Plus(used)
		}
	}
	return sum
}

// Find returns the sessions whose ids begin with prefix, in the order of List.
func (r SessionReader) Find(ctx context.Context, prefix string) ([]Session, error) {
	if len(prefix) < LeastPrefix {
		return nil, nil
	}
	found, err := r.List(ctx, SessionFilter{Prefix: prefix})
	return found.Sessions, err
}

// Named reports whether Find may return a session for prefix, without opening the index, from
// the states and the messages on the metadata branches. It misses a session that is only on a
// branch without messages, such as a squashed one.
func (r SessionReader) Named(ctx context.Context, prefix string) (bool, error) {
	states, _ := session.Open(r.Repo.CommonDir).All()
	if slices.ContainsFunc(states, func(s *session.State) bool { return strings.HasPrefix(s.ID, prefix) }) {
		return true, nil
	}
	messages, err := git.MessagesContaining(ctx, r.Repo, checkpoint.SessionKey+": "+prefix, checkpoint.AsRevisions()...)
	return len(messages) > 0, err
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
	branch, err := git.HeadBranch(ctx, repo)
	if err != nil {
		return ""
	}
	return branch
}
