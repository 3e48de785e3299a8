package tidy

import (
	"fmt"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// sessions lists the states of sessions that are over: ended, or silent
// for long, with nothing to commit or complete and nothing on a shadow branch
// that stays. The last session of each worktree is kept, to be resumed.
func (v *view) sessions(going []Item) []Item {
	last := map[string]*session.State{}
	for _, s := range v.states {
		if l := last[s.WorktreePath]; l == nil || heardOf(s).After(heardOf(l)) {
			last[s.WorktreePath] = s
		}
	}
	var items []Item
	for _, s := range v.states {
		why, over := v.over(s)
		if over && last[s.WorktreePath] != s && !v.stays(s, going) {
			items = append(items, Item{Kind: State, Name: s.ID, Why: why})
		}
	}
	return items
}

// over reports whether a session can be forgotten, and why.
func (v *view) over(s *session.State) (string, bool) {
	quiet := v.now.Sub(heardOf(s))
	agent := s.Recorder.Agent
	switch {
	case s.Phase == session.Active || s.CheckpointCount > 0 || unfinished(s):
		return "", false
	case s.Phase == session.Ended && quiet > endedAge:
		return "ended " + days(quiet) + " ago, nothing pending", true
	case quiet > quietAge && (agent.PID == 0 || !v.rec.Env.Alive(agent.PID, agent.Start)):
		return "not heard of for " + days(quiet) + ", nothing pending", true
	default:
		return "", false
	}
}

// stays reports whether the session's shadow branch is there and isn't going.
func (v *view) stays(s *session.State, going []Item) bool {
	for _, ref := range v.refs {
		base, worktree, ok := checkpoint.ParseShadow(ref.Name)
		if !ok || !hangsOn(base, git.OID(s.BaseCommit)) || worktree != "" && worktree != checkpoint.WorktreeHash(s.WorktreeID) {
			continue
		}
		if !slices.ContainsFunc(going, func(i Item) bool { return i.Kind == Shadow && fullName(i.Name) == ref.Name }) {
			return true
		}
	}
	return false
}

// heardOf is the time of a session's last sign of activity.
func heardOf(s *session.State) time.Time {
	at := s.StartedAt
	for _, t := range []*time.Time{s.EndedAt, s.LastInteraction} {
		if t != nil && t.After(at) {
			at = *t
		}
	}
	return at
}

func days(d time.Duration) string {
	return fmt.Sprintf("%d days", int(d/(24*time.Hour)))
}
