package savedcontext

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// memory is what is known of a session's context between two hooks: the side
// file of kind recall. It can be lost: what it says of the conversation is in
// the transcript, of files in the worktree, of checkpoints in their refs.
type memory struct {
	trace
	story
}

// story is the part of a memory that is read only by who works on it.
type story struct {
	// Base is the commit that was checked out when the session was seen first.
	Base   string        `json:"base,omitempty"`
	Digest recall.Digest `json:"digest"`
	// Asked says that the session was ever asked anything.
	Asked bool `json:"asked,omitempty"`
	// Files are those that the session changed, as they were captured last.
	Files pathMap[recall.Captured] `json:"files,omitempty"`
	// Said is what the last stop told that the agent said, redacted.
	Said string `json:"said,omitempty"`
	// Last is the newest checkpoint that was saved, Kept the newest that stays.
	Last *mark `json:"last,omitempty"`
	Kept *mark `json:"kept,omitempty"`
	// Before is what was kept before the end.
	Before *mark `json:"before,omitempty"`
	// Saving is a checkpoint that is being written: if it stands here, nobody
	// knows whether it is there.
	Saving *mark `json:"saving,omitempty"`
	// Unfinished is a checkpoint that a child has to complete.
	Unfinished string `json:"unfinished,omitempty"`
	// Compacted is when the context was compacted last.
	Compacted time.Time `json:"compacted,omitzero"`
	// Full says that the context was found nearly full, and that this was said.
	Full bool `json:"full,omitempty"`
	// Improved is the checkpoint that a model was asked about last.
	Improved string `json:"improved,omitempty"`
}

// trace is the part of a memory that tells which session it is.
type trace struct {
	Worktree string `json:"worktree"`
	// Agent is the process that the session ran in last.
	Agent session.Process `json:"agent,omitzero"`
	// Seen is when a hook of the session ran last.
	Seen time.Time `json:"seen"`
	// SeenBefore is when one ran before that.
	SeenBefore time.Time `json:"seen_before,omitzero"`
	// End is how it ended; nil while it goes on, and where nobody said so.
	End *ending `json:"end,omitempty"`
}

// ending is how a session ended.
type ending struct {
	Cause recall.Cause `json:"cause"`
	At    time.Time    `json:"at"`
	// Prompt is the id of what the person typed.
	Prompt string `json:"prompt,omitempty"`
	// ID is the checkpoint that stands for the session then, which is Status;
	// empty if there is none.
	ID      string        `json:"id,omitempty"`
	Status  recall.Status `json:"status,omitempty"`
	Summary string        `json:"summary,omitempty"`
	// Fresh says that it was made for this end; else it was found unchanged.
	Fresh bool `json:"fresh,omitempty"`
	// Next is the session that came after a clear.
	Next string `json:"next,omitempty"`
	// Ask says that the person was to be asked, Answer what they said.
	Ask    bool        `json:"ask,omitempty"`
	Answer ClearAnswer `json:"answer,omitempty"`
}

// maxRemembered bounds the files that are remembered of a session, maxOutlines
// the bytes of their outlines together.
const (
	maxRemembered = 500
	maxOutlines   = 64 << 10
)

// remembered reads what is known of the session id, with the file's bytes; a new
// memory if there is none, or none that can be read.
func (r *Saver) remembered(ctx context.Context, id string) (*memory, []byte, error) {
	data, err := r.Sessions.Side(id, session.RecallKind).ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("read what is known of session %s: %w", id, err)
	}
	m := new(memory)
	if len(data) == 0 {
		return m, data, nil
	}
	if err := m.decode(data); err != nil {
		r.Log.WarnContext(ctx, "context of a session read anew", "session_id", id, "error", err.Error())
		m = new(memory)
	}
	return m, data, nil
}

// putMemory writes the memory if it says something new. The caller holds the
// lock.
func (r *Saver) putMemory(id string, m *memory, before []byte) ([]byte, error) {
	m.bound()
	data, err := m.encode()
	if err != nil {
		return before, fmt.Errorf("encode what is known of session %s: %w", id, err)
	}
	if bytes.Equal(data, before) {
		return before, nil
	}
	if err := r.Sessions.Side(id, session.RecallKind).Replace(data); err != nil {
		return before, fmt.Errorf("write what is known of session %s: %w", id, err)
	}
	return data, nil
}

// encode is a line of JSON with the trace and one with the rest, so that who
// looks for a session need not read all that is known of each.
func (m *memory) encode() ([]byte, error) {
	first, err := json.Marshal(m.trace)
	if err != nil {
		return nil, err
	}
	second, err := json.Marshal(m.story)
	if err != nil {
		return nil, err
	}
	return append(append(append(first, '\n'), second...), '\n'), nil
}

func (m *memory) decode(data []byte) error {
	first, second, _ := bytes.Cut(data, []byte{'\n'})
	return errors.Join(json.Unmarshal(first, &m.trace), json.Unmarshal(second, &m.story))
}

// bound drops the outlines beyond what there is room for.
func (m *memory) bound() {
	size := 0
	for path, f := range m.Files {
		for _, d := range f.Outline {
			size += len(d.Text)
		}
		if size > maxOutlines && len(f.Outline) > 0 {
			f.Outline = nil
			m.Files[path] = f
		}
	}
}

// recollection is work on a session's memory.
type recollection struct {
	r  *Saver
	s  *session.State
	m  *memory
	at sightOfContext
	// recovered says that the last checkpoint was found, after the hook that
	// saved it was stopped.
	recovered bool
	// before are the bytes of the memory's file.
	before []byte
}

// recollect brings what is known of the session's context up to date, calls then
// while it holds the lock, and writes the memory. If another hook has written it
// meanwhile, all is done again upon that. Without a state there is no session:
// session.ErrNotFound.
func (r *Saver) recollect(ctx context.Context, id string, how effort, then func(context.Context, *recollection) error) error {
	if err := r.CheckTombstones(); err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		err := r.recollectOnce(ctx, id, how, then)
		if !errors.Is(err, workspace.ErrStale) || attempt == workspace.MaxAttempts {
			return err
		}
	}
}

func (r *Saver) recollectOnce(ctx context.Context, id string, how effort, then func(context.Context, *recollection) error) error {
	s, err := r.Sessions.Load(id)
	if err != nil {
		return err
	}
	w := &recollection{r: r, s: s}
	if w.m, w.before, err = r.remembered(ctx, id); err != nil {
		return err
	}
	defer w.settlePlace(ctx)()
	if err := w.look(ctx, how); err != nil {
		return err
	}
	return r.WithLock(ctx, func() error {
		now, err := r.Sessions.Side(id, session.RecallKind).ReadAll()
		if err != nil {
			return err
		}
		if !bytes.Equal(now, w.before) {
			return workspace.ErrStale
		}
		if r.Sessions.Stamp(id) == "" {
			return session.ErrNotFound // removed meanwhile: it gets no file any more
		}
		err = w.settleSaving(ctx)
		if err == nil {
			err = then(ctx, w)
		}
		return errors.Join(err, w.write())
	})
}

// settlePlace lets the work be done in the worktree that the memory is about. A
// session that has gone to another one begins with its files anew.
func (w *recollection) settlePlace(ctx context.Context) (done func()) {
	done = func() {}
	if w.m.Worktree == "" || w.m.Worktree == w.r.Repo.Root {
		return done
	}
	if !w.r.OwnsSession(w.s) {
		repo, err := git.Discover(git.Locate{Dir: w.m.Worktree, Getenv: w.r.Env.Getenv})
		if err == nil && repo.CommonDir == w.r.Repo.CommonDir && repo.Root == w.m.Worktree {
			there := *w.r
			there.Repo = repo
			w.r = &there
			return func() { _ = repo.Close() }
		}
		w.r.Log.InfoContext(ctx, "the session's worktree is gone", "session_id", w.s.ID, "path", w.m.Worktree)
	}
	w.m.Worktree, w.m.Files = "", nil
	return done
}

// write brings the memory's file up to date.
func (w *recollection) write() (err error) {
	w.before, err = w.r.putMemory(w.s.ID, w.m, w.before)
	return err
}
