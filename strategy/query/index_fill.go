package query

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Progress is called with the step of the fill, the work done and the total.
type Progress func(what string, done, total int64)

const (
	// batch is the number of transcripts between two commits to the index.
	batch = 200
	// lockWait is how long a query waits for another filler of the index.
	lockWait = 10 * time.Minute
	// childWait is how long a detached child waits for one.
	childWait = time.Minute
)

// The keys of the filler's metadata in the index.
const (
	sourcesKey  = "sources"
	treesKey    = "trees"
	lackingKey  = "lacking"
	tipsKey     = "tips"
	notesKey    = "notes"
	recordsKey  = "records"
	contextsKey = "contexts"
	snapshotKey = "snapshot"
)

func indexFiles(w *workspace.Workspace) index.Files { return index.At(w.RecordsDir()) }

// OpenIndex returns the index for a query, brought up to date with the record. Unreadable parts of
// the record are left out and logged.
func OpenIndex(ctx context.Context, w *workspace.Workspace, progress Progress) (*index.Reader, error) {
	if err := w.CheckTombstones(); err != nil {
		return nil, err
	}
	const attempts = 3
	for attempt := 1; ; attempt++ {
		r, err := CurrentIndex(ctx, w)
		if err == nil || !errors.Is(err, index.ErrLost) {
			return r, err
		}
		if err := FillIndex(ctx, w, lockWait, progress); err != nil && !errors.Is(err, index.ErrLost) {
			return nil, err
		}
		r, err = ReadIndex(ctx, w)
		if err == nil || !errors.Is(err, index.ErrLost) || attempt == attempts {
			return r, err
		}
	}
}

// ReadIndex returns the index as it is, without adding to it.
func ReadIndex(ctx context.Context, w *workspace.Workspace) (*index.Reader, error) {
	r, err := index.Open(ctx, indexFiles(w))
	if err != nil {
		return nil, err
	}
	taken := sync.OnceValue(func() map[bands.Version]bool {
		store, err := tracking.OpenStore(w)
		if err != nil {
			return nil
		}
		return store.TakenBack()
	})
	r.TakenBack = func(snapshot int) bool { return taken()[bands.Version(snapshot)] }
	return r, nil
}

// CurrentIndex returns the index if it is up to date with the record, else index.ErrLost.
func CurrentIndex(ctx context.Context, w *workspace.Workspace) (*index.Reader, error) {
	r, err := ReadIndex(ctx, w)
	if err != nil {
		return nil, err
	}
	if !r.Writing {
		var text string
		text, err = r.Meta(ctx, sourcesKey)
		if known := decodeSources(text); err == nil && known.equal(look(w, &known)) {
			return r, nil
		}
	}
	return nil, cmp.Or(errors.Join(err, r.Close()), index.ErrLost)
}

// HasIndex reports whether there is an index.
func HasIndex(w *workspace.Workspace) bool { return indexFiles(w).Exist() }

// DropIndex removes the index, so that forgotten data doesn't stay in it.
func DropIndex(ctx context.Context, w *workspace.Workspace) error {
	return index.Remove(ctx, indexFiles(w))
}

// RefillIndex is Fill for a detached child: it is no error if another filler is at work.
func RefillIndex(ctx context.Context, w *workspace.Workspace) error {
	err := FillIndex(ctx, w, childWait, func(string, int64, int64) {})
	if errors.Is(err, index.ErrBusy) {
		return nil
	}
	return err
}

// FillIndex brings the index up to date with the record. It waits for another filler for at most
// wait, then returns index.ErrBusy.
func FillIndex(ctx context.Context, w *workspace.Workspace, wait time.Duration, progress Progress) error {
	err := fill(ctx, w, wait, progress)
	if errors.Is(err, index.ErrLost) && ctx.Err() == nil { // it was removed: rebuild it
		err = fill(ctx, w, wait, progress)
	}
	return err
}

func fill(ctx context.Context, w *workspace.Workspace, wait time.Duration, progress Progress) (err error) {
	if err := w.CheckTombstones(); err != nil {
		return err
	}
	if err := w.MaskForgotten(); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	iw, err := index.OpenWriter(waiting, indexFiles(w))
	if err != nil {
		return err
	}
	defer func() { err = iw.Close(ctx, err) }()
	text, err := iw.Meta(ctx, sourcesKey)
	if err != nil {
		return err
	}
	known := decodeSources(text)
	packs := packs(w) // read first, so that later packs are noticed
	now := look(w, &known)
	if known.equal(now) {
		return nil
	}
	if known.Refs != "" && known.Forgotten != now.Forgotten {
		if err := iw.Recreate(ctx); err != nil {
			return err
		}
		known = sources{}
		now = look(w, &known)
	}
	r := &run{Workspace: w, w: iw, known: &known, now: now, progress: progress}
	err = r.all(ctx)
	if errors.Is(err, errReplaced) {
		if err := iw.Recreate(ctx); err != nil {
			return err
		}
		known = sources{}
		r = &run{Workspace: w, w: iw, known: &known, now: look(w, &known), progress: progress}
		err = r.all(ctx)
	}
	if err != nil {
		return err
	}
	switch {
	case r.absent:
		r.now.Packs = packs
	case r.lacking == nil: // the checkpoints were not read
	case len(r.lacking) > 0:
		r.now.Packs = packs
	default:
		r.now.Packs = ""
	}
	return r.setMeta(ctx, sourcesKey, r.now)
}

// errReplaced means that the index has checkpoints that the record no longer has.
var errReplaced = errors.New("checkpoints are gone from the record")

// run fills the index once.
type run struct {
	*workspace.Workspace

	w          *index.Writer
	known, now *sources
	progress   Progress
	put        int // transcripts read since the last commit to the index
	// lacking are the checkpoints that are incomplete in this clone; nil if no checkpoints
	// were read.
	lacking map[checkpoint.ID]bool
	// absent reports that this clone lacks whole trees of checkpoints.
	absent bool
}

func (r *run) all(ctx context.Context) error {
	for _, step := range []func(context.Context) error{r.live, r.checkpoints, r.contexts, r.authors, r.commits, r.derived, r.snapshots, r.w.ResolveCopies} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// meta decodes the metadata of the index under a key, if there is any.
func (r *run) meta(ctx context.Context, key string, value any) error {
	text, err := r.w.Meta(ctx, key)
	if err != nil {
		return err
	}
	if text != "" && json.Unmarshal([]byte(text), value) != nil {
		return index.ErrLost
	}
	return nil
}

func (r *run) setMeta(ctx context.Context, key string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return r.w.SetMeta(ctx, key, string(data))
}

// done counts a transcript, and commits to the index after each batch.
func (r *run) done(ctx context.Context) error {
	if r.put++; r.put%batch != 0 {
		return ctx.Err()
	}
	return r.w.Commit(ctx)
}

// skip logs an unreadable part of the record.
func (r *run) skip(ctx context.Context, what string, err error) {
	r.Log.WarnContext(ctx, "not indexed", "what", what, "error", r.Redact.Text(err.Error()))
}
