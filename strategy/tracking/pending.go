package tracking

import (
	"fmt"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Pending holds the changes of a session that a hook has prepared without the repository's
// lock. Under the lock they are written in this order: the shadow commits, the annotation of
// the snapshot, the completed checkpoints, the side files, and the state, which refers to all
// of these. The requests to children follow without the lock.
type Pending struct {
	// ShadowCommits are made one on top of the other.
	ShadowCommits []ShadowCommit
	Annotation    *Annotation
	Completion    *Completion

	prompts, usage Tail
	Steps          Tail
	Texts          []string // all prompts, once read, up to TextsEnd
	TextsEnd       int64
	Masked         bool   // the side file of prompts was replaced: the old one has secrets
	Known          []byte // the new list of untracked files, nil if it stays
	// Unstored reports whether a child has to store the rest of the transcript or
	// list untracked files.
	Unstored bool
	// Snapshot is requested from a child once the state is saved, nil for none.
	Snapshot *SnapshotRequest
	// TurnSaved reports whether a turn ends, Prompted is the time of its prompt's
	// file.
	TurnSaved bool
	Prompted  time.Time

	unsynced []string
}

// CountOn adds files and directories that are to be synced together with the side files,
// before the state refers to them: all of these take one sync.
func (p *Pending) CountOn(paths ...string) { p.unsynced = append(p.unsynced, paths...) }

// MovesRefs reports whether there are changes that need the lock before the side files and the
// state are written.
func (p *Pending) MovesRefs() bool {
	return len(p.ShadowCommits) > 0 || p.Annotation != nil || p.Completion != nil
}

// Save writes the side files of the session and then its state, which refers to
// them. The caller holds the lock.
func (p *Pending) Save(store *session.Store, s *session.State) error {
	countsOn := p.unsynced
	for _, t := range []struct {
		kind string
		Tail
	}{{session.PromptsKind, p.prompts}, {session.UsageKind, p.usage}, {session.StepsKind, p.Steps}} {
		if len(t.Data) == 0 {
			continue
		}
		side := store.SideOf(s, t.kind)
		if _, err := side.Append(t.at, t.Data); err != nil {
			return fmt.Errorf("store %s: %w", t.kind, err)
		}
		countsOn = append(countsOn, side.Paths()...)
	}
	if p.Known != nil {
		s.Renew(session.UntrackedKind)
		side := store.SideOf(s, session.UntrackedKind)
		if err := side.Replace(p.Known); err != nil {
			return fmt.Errorf("store list of untracked files: %w", err)
		}
		countsOn = append(countsOn, side.Paths()...)
	}
	if err := store.Save(s, countsOn...); err != nil || !p.Masked {
		return err
	}
	return store.OtherSideOf(s, session.PromptsKind).Remove()
}

// ShadowCommit is a commit on the session's shadow branch of HEAD: a turn
// checkpoint, or a checkpoint of a task. Exactly one of Turn, TaskEnd and TaskStep
// is set.
type ShadowCommit struct {
	// Head is the commit whose shadow branch it is.
	Head git.Commit
	// Touched are the files of the turn, in order, and Edits the stored ones of these.
	Touched []string
	Edits   []git.TreeEdit
	By      git.Signature

	// Turn is complete except for its tasks, which are read from the branch.
	Turn     *checkpoint.Shadow
	TaskEnd  *checkpoint.Task
	TaskStep *TaskStep
}

// TaskStep is a step of a subagent's task. Its number is assigned when it is made: no step is
// made if no file differs from the branch.
type TaskStep struct {
	workspace.TaskStep

	ToolUse string
}

// Annotation is a request to record the session's state with the snapshot of a stop, once its
// shadow commits are made.
type Annotation struct {
	Store   *bands.Store
	Version bands.Version
	// Others are the changes of the snapshot that are not the session's.
	Others []string
	// Unchanged reports whether the snapshot is an older one of the same tree,
	// with an annotation that gets the session's new shadow commit.
	Unchanged bool
}

// Completion rewrites the session's part of the checkpoints of its turn, with the
// transcript up to the turn's end.
type Completion struct {
	Checkpoints []string
	// Last is the turn's last checkpoint, empty if it made none.
	Last string
	// Stored reports whether the whole transcript is stored; if not, a child
	// completes the checkpoints again.
	Stored bool
}
