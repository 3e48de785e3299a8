package diff

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/proc"
)

// BisectSearch executes a recorded search.
type BisectSearch struct {
	Store  *bands.Store
	Record *BisectRecord
	*BisectState

	// Dir is the folder in which the scratch tree's folder is created.
	Dir string
	// Clones returns the tree from which files may be cloned when the scratch tree is created
	// from a snapshot, nil for none.
	Clones func(context.Context, bands.Snapshot) (*restore.CloneSource, error)
	Now    func() time.Time
	// Exec runs the command in the folder dir, which contains a snapshot's files, and returns its
	// exit status. An error stops the search, which can be continued later.
	Exec func(ctx context.Context, dir string, v bands.Version) (status int, err error)
	// Trying is called before a snapshot is written to the scratch tree, Tried after its result
	// is recorded.
	Trying func(BisectStep)
	Tried  func(BisectRun)
	// Writing calls do and shows how it writes the tree.
	Writing func(ctx context.Context, what string, do func(func(bands.Progress)) error) error
}

// BisectAbortError means that the command's exit status ended the search.
type BisectAbortError struct {
	Version bands.Version
	Status  int
}

// Error describes the exit status.
func (e *BisectAbortError) Error() string {
	return fmt.Sprintf("the command exited with status %d in %s", e.Status, e.Version)
}

// Run tries snapshots until the search is over, then removes the scratch tree and returns the
// outcome. After any error except a [*BisectEndError] it can be called again, also by another
// process.
func (s *BisectSearch) Run(ctx context.Context) (BisectOutcome, error) {
	for {
		next, err := s.next()
		if err != nil {
			return BisectOutcome{}, errors.Join(err, s.end())
		}
		if next.Version == 0 {
			break
		}
		s.Trying(next)
		run := BisectRun{Version: next.Version, Result: BisectSkip, Exit: -1}
		began := s.Now()
		dir, err := s.prepare(ctx, next.Version)
		run.Setup = s.Now().Sub(began).Milliseconds()
		switch {
		case err == nil:
			began = s.Now()
			run.Exit, err = s.Exec(ctx, dir, next.Version)
			run.Millis = s.Now().Sub(began).Milliseconds()
			if err != nil {
				return BisectOutcome{}, err
			}
			result, known := bisectResultOf(run.Exit)
			if !known {
				return BisectOutcome{}, &BisectAbortError{Version: next.Version, Status: run.Exit}
			}
			run.Result = result
		case errors.Is(err, bands.ErrDamaged), errors.Is(err, bands.ErrNoSnapshot), errors.Is(err, restore.ErrIncomplete):
			run.Note = err.Error() // only this snapshot is skipped
		default:
			return BisectOutcome{}, err
		}
		run.At = s.Now().UTC().Truncate(time.Second)
		s.Runs = append(s.Runs, run)
		if err := s.Record.Write(s.BisectState); err != nil {
			return BisectOutcome{}, err
		}
		s.Tried(run)
	}
	found, _ := s.Outcome()
	return found, s.end()
}

// end removes the scratch tree and records that the search is over.
func (s *BisectSearch) end() error {
	if err := s.removeBase(); err != nil {
		return err
	}
	if s.Ended == nil {
		now := s.Now().UTC()
		s.Ended = &now
	}
	return s.Record.Write(s.BisectState)
}

// prepare writes a snapshot to the scratch tree, and returns its folder.
func (s *BisectSearch) prepare(ctx context.Context, v bands.Version) (dir string, err error) {
	to, err := s.Store.Snapshot(v)
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(s.Base); s.Base == "" || err != nil || s.Boot != proc.Boot() {
		if err := s.removeBase(); err != nil {
			return "", err
		}
		if err := s.makeBase(s.Dir); err != nil {
			return "", err
		}
		if err := s.Record.Write(s.BisectState); err != nil {
			return "", err
		}
	}
	t := &restore.ScratchTree{Store: s.Store, Base: s.Base, Keep: s.Keep, Now: s.Now}
	if to.Volume != "" {
		err = s.Writing(ctx, "Copying "+to.Version.String(), func(func(bands.Progress)) error {
			return errors.Join(volume.RemoveScratch(t.Dir()), volume.Scratch(ctx, s.Store, to, t.Dir()))
		})
		return t.Dir(), err
	}
	at := s.Tree
	from, err := s.Store.Snapshot(at.Version)
	known := at.Version != 0 && err == nil
	// While the tree is being written its recorded state is empty.
	s.Tree = restore.ScratchState{}
	if at.Version != 0 {
		if err := s.Record.Write(s.BisectState); err != nil {
			return "", err
		}
	}
	err = s.Writing(ctx, "Writing "+v.String()+" to the scratch tree", func(progress func(bands.Progress)) error {
		t.Progress = progress
		if known {
			if s.Tree, err = t.Update(ctx, at, from, to); err == nil || ctx.Err() != nil {
				return err
			}
		}
		clones, err := s.Clones(ctx, to)
		if err != nil {
			return err
		}
		if clones != nil && clones.Present != nil {
			defer func() { _ = clones.Present.Close() }()
		}
		s.Tree, err = t.Make(ctx, to, clones)
		return err
	})
	if err != nil {
		s.Tree = restore.ScratchState{}
		return "", err
	}
	return t.Dir(), s.Record.Write(s.BisectState)
}
