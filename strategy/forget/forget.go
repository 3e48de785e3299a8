// Package forget removes recorded content from every place that the program writes to, and prevents
// it from being recorded again. docs/formats/forget.md describes the places, the order of the
// writes and the formats.
//
// Find writes no ref and no file. Do holds the repository's lock.
package forget

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// What selects the content to forget: exactly one of Text, Secrets, Session, Checkpoint, Before, File
// and Listed.
type What struct {
	Text string
	// Secrets are several texts.
	Secrets    []string
	Session    string
	Checkpoint checkpoint.ID
	Before     time.Time
	// File is the path of a file from the root of a worktree, with slashes.
	File string
	// Listed selects the texts that other clones have forgotten, as the branch lists them.
	Listed bool

	// Remote is the remote whose checkpoints the caller replaces afterwards, if any. It is only for the
	// descriptions of places.
	Remote string

	// RecordsOnly leaves snapshots, and files in the trees of shadow branches, as they are: they hold
	// the user's files. It is for Secrets and Listed.
	RecordsOnly bool
	// AgentTranscript requests changing the agent's own transcripts, too, ActiveToo also those of
	// active sessions.
	AgentTranscript, ActiveToo bool
}

// Kind is the kind of a place.
type Kind string

// The kinds of places, in the order in which they are shown.
const (
	// Branch is the branch of checkpoints, or the ref of imported ones, Shadow a shadow branch, Saved a saved context, Other
	// another ref of this program.
	Branch Kind = "checkpoints"
	Shadow Kind = "shadow-branch"
	Saved  Kind = "saved-context"
	Other  Kind = "ref"
	// Object is an object that nothing refers to any more, Packed such an object in a pack, Own an
	// object of the user's own history.
	Object Kind = "unreferenced-object"
	Packed Kind = "packed-object"
	Own    Kind = "own-object"
	// File is a file of the records, Snapshot a snapshot.
	File     Kind = "file"
	Snapshot Kind = "snapshot"
	// Unknown is a place that could not be searched.
	Unknown Kind = "not-searched"
)

// Place is a place with content to forget.
type Place struct {
	Kind Kind
	Name string
	// What describes the change of the place.
	What string
	// Stays reports that it is not changed: What gives the reason.
	Stays bool
}

// Errors of Do.
var (
	// ErrMoved means that other processes kept writing meanwhile.
	ErrMoved = errors.New("the records have changed meanwhile")
)

// Forgetting forgets content in a repository.
type Forgetting struct {
	*target

	loaded checkpoint.Tombstones // as they were read

	refs    *refs
	pruner  *pruner
	catalog *catalog
}

// Progress is called with the finished part of a stage and its total, 0 if that isn't known.
type Progress func(stage string, done, total int64)

// New prepares to forget content in the workspace's repository, including all its worktrees.
// progress is called by New, Find and Do.
func New(ctx context.Context, w *workspace.Workspace, what What, progress Progress) (*Forgetting, error) {
	t := &target{w: w, what: what, progress: progress}
	f := &Forgetting{target: t, refs: &refs{target: t}, pruner: &pruner{target: t}, catalog: &catalog{target: t}}
	var err error
	if f.loaded, err = checkpoint.LoadTombstones(w.Repo.CommonDir); err != nil {
		return nil, err
	}
	f.tombs = f.loaded
	switch {
	case what.Text != "":
		if err := CheckText(what.Text); err != nil {
			return nil, err
		}
	case len(what.Secrets) > 0:
		for _, text := range what.Secrets {
			if err := CheckText(text); err != nil {
				return nil, err
			}
		}
	case what.Session != "":
		if err := session.CheckID(what.Session); err != nil {
			return nil, err
		}
		f.list.Sessions = []string{what.Session}
	case what.Checkpoint != "":
		f.list.Checkpoints = []checkpoint.ID{what.Checkpoint}
	case !what.Before.IsZero():
		f.list.Checkpoints, err = f.older(ctx)
	case what.File != "":
		err = f.findVersions(ctx)
	case what.Listed:
	default:
		return nil, errors.New("name the content to forget")
	}
	if err != nil {
		return nil, err
	}
	return f, f.addTombstones(ctx)
}

// addTombstones adds the content to forget to the tombstones, and prepares the search for it.
func (f *Forgetting) addTombstones(ctx context.Context) (err error) {
	switch {
	case f.what.Text != "":
		f.text, err = f.tombs.AddText(f.w.Env.Random, f.what.Text)
		f.find = f.text
	case len(f.what.Secrets) > 0:
		for _, text := range f.what.Secrets {
			if _, err := f.tombs.AddText(f.w.Env.Random, text); err != nil {
				return err
			}
		}
		f.text = f.tombs.Forgetter()
		f.find = f.text
	case f.what.File != "":
		f.tombs.AddFile(f.what.File)
		if err = f.tombs.AddLines(f.w.Env.Random, slices.Sorted(maps.Keys(f.content.lines))); err == nil {
			f.find, err = f.quotes(ctx)
		}
	case f.what.Listed:
		if f.text = f.tombs.Forgetter(); f.text != nil {
			f.find = f.text
		}
	}
	f.tombs.Forgotten, f.tombs.Verified = f.tombs.With(f.list), ""
	return err
}

// older returns the checkpoints all of whose sessions are older than the date.
func (f *Forgetting) older(ctx context.Context) ([]checkpoint.ID, error) {
	records, err := f.w.LocalRecords(ctx)
	if err != nil {
		return nil, err
	}
	ids, err := records.Find(ctx, "")
	if err != nil {
		return nil, err
	}
	var old []checkpoint.ID
	for _, id := range ids {
		c, err := records.ReadWhole(ctx, id)
		if err != nil {
			return nil, err
		}
		newer := func(s checkpoint.Stored) bool { return !s.Meta.CreatedAt.Before(f.what.Before) }
		if len(c.Sessions) > 0 && !slices.ContainsFunc(c.Sessions, newer) {
			old = append(old, id)
		}
	}
	return old, nil
}

// Find returns every place that matches. It writes no ref and no file. It does write objects
// without references, which git's gc removes.
func (f *Forgetting) Find(ctx context.Context) ([]Place, error) {
	plan, err := f.refs.plan(ctx)
	if err != nil {
		return nil, err
	}
	return f.places(ctx, plan)
}

func (f *Forgetting) places(ctx context.Context, plan refPlan) ([]Place, error) {
	places := plan.places
	objects, err := f.pruner.ends(ctx, plan)
	if err != nil {
		return nil, err
	}
	places = append(places, objects.places...)
	err = f.eachFile(func(path string, data []byte) error {
		if c, has := f.recordChange(path, data); has {
			places = append(places, c.place)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, c := range f.transcriptChanges() {
		places = append(places, c.place)
	}
	snapshots, err := f.oldSnapshots()
	if err != nil {
		return nil, err
	}
	for _, v := range snapshots {
		places = append(places, Place{Kind: Snapshot, Name: v.String(), What: "is deleted"})
	}
	inside, err := f.snapshotPlaces(ctx)
	if err != nil {
		return nil, err
	}
	own, err := f.ownCommits(ctx)
	return slices.Concat(places, inside, f.catalog.places(), own), err
}

// Result is the result of Do.
type Result struct {
	// Done are the places that were cleaned, Left those that still match.
	Done, Left []Place
}

// rounds is the maximum number of passes over everything, to include content that is written
// meanwhile.
const rounds = 3

// Do forgets the content. It first completes a run that was killed, and finally searches every
// place again.
func (f *Forgetting) Do(ctx context.Context) (Result, error) {
	var r Result
	err := f.w.WithLock(ctx, func() error {
		// Another run or a merge may have written tombstones since they were read.
		now, err := checkpoint.LoadTombstones(f.w.Repo.CommonDir)
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(now, f.loaded) {
			f.loaded, f.tombs = now, now
			f.searched, f.refs.meta, f.refs.shadow = nil, nil, nil
			if err := f.addTombstones(ctx); err != nil {
				return err
			}
		}
		if err := f.resume(ctx); err != nil {
			return fmt.Errorf("finish an interrupted run: %w", err)
		}
		for range rounds {
			found, err := f.once(ctx)
			if err != nil {
				return err
			}
			r.Done = append(r.Done, found...)
			left, err := f.Find(ctx)
			if err != nil {
				return err
			}
			r.Left = left
			if !slices.ContainsFunc(left, func(p Place) bool { return !p.Stays }) {
				return nil
			}
		}
		return ErrMoved
	})
	return r, err
}

// once cleans every place. The journal is written before a ref moves.
func (f *Forgetting) once(ctx context.Context) ([]Place, error) {
	if err := f.tombs.Save(f.w.Repo.CommonDir); err != nil {
		return nil, err
	}
	saved := f.tombs.Forgotten
	plan, err := f.refs.plan(ctx)
	if err == nil && !saved.Has(f.tombs.Forgotten) { // the text is in a history that others may have
		err = f.tombs.Save(f.w.Repo.CommonDir)
	}
	if err != nil {
		return nil, err
	}
	places, err := f.places(ctx, plan)
	if err != nil {
		return nil, err
	}
	places = slices.DeleteFunc(places, func(p Place) bool { return p.Stays })
	j := &journal{Version: journalVersion, Refs: plan.refs, Moved: plan.moved, Session: f.what.Session}
	if err := f.w.Repo.SyncObjects(); err != nil {
		return nil, err
	}
	if err := f.writeJournal(j); err != nil {
		return nil, err
	}
	if err := f.refs.move(ctx, j); err != nil {
		return nil, err
	}
	return places, f.finish(ctx, j)
}

// resume completes a run that was killed, according to the journal.
func (f *Forgetting) resume(ctx context.Context) error {
	j, found, err := f.readJournal()
	if err != nil || !found {
		return err
	}
	f.searched, f.refs.meta, f.refs.shadow = nil, nil, nil // it removes objects
	if err := f.refs.move(ctx, &j); err != nil && !errors.Is(err, git.ErrRefMoved) {
		return err
	}
	return f.finish(ctx, &j)
}

// finish does the work after the refs have moved.
func (f *Forgetting) finish(ctx context.Context, j *journal) error {
	// Record the rewritten commits of the metadata branch: they identify remotes that still have
	// them.
	at := slices.IndexFunc(j.Refs, func(r refChange) bool { return r.Name == checkpoint.MetadataBranch })
	if at >= 0 {
		f.tombs.Replaced = slices.AppendSeq(f.tombs.Replaced, maps.Keys(j.Moved))
		if r := j.Refs[at]; r.Old != "" {
			f.tombs.Replaced = append(f.tombs.Replaced, r.Old)
		}
		slices.Sort(f.tombs.Replaced)
		f.tombs.Replaced = slices.Compact(f.tombs.Replaced)
		if err := f.tombs.Save(f.w.Repo.CommonDir); err != nil {
			return err
		}
	}
	if err := f.cleanRecords(ctx, j); err != nil {
		return err
	}
	if err := f.deleteOldSnapshots(ctx); err != nil {
		return err
	}
	if err := f.eraseSnapshots(ctx); err != nil {
		return err
	}
	if err := query.DropIndex(ctx, f.w); err != nil {
		return err
	}
	f.catalog.remake(ctx)
	if err := f.refs.expire(ctx); err != nil {
		return err
	}
	// Remove the objects that only the former histories had and that nothing refers to any more,
	// and other matching objects. An object that files of the records name remains unless it
	// matches.
	if len(j.Prune) == 0 {
		var err error
		if j.Prune, err = f.pruner.prunable(ctx, j); err != nil {
			return err
		}
		if err := f.writeJournal(j); err != nil {
			return err
		}
	}
	reached, err := f.pruner.reached(ctx)
	if err != nil {
		return err
	}
	gone := slices.DeleteFunc(slices.Clone(j.Prune), func(oid git.OID) bool { return reached[oid] })
	f.pruner.packErr = f.pruner.dropPacked(ctx, gone) // it is reported in the end
	if err := f.w.Repo.RemoveLoose(gone); err != nil {
		return err
	}
	path := f.journalPath()
	if err := disk.SweepTempOf(path, f.w.Env.Now()); err != nil { // leftovers of killed runs
		return err
	}
	if err := disk.Remove(path); err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(path))
}
