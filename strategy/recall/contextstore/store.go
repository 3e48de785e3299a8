// Package contextstore stores saved contexts. Each is a commit at refs/entire/context/<id>, and a
// row in the catalog that can be rebuilt from the commit. docs/formats/context.md describes the
// format.
//
// A Capture reads the files that a session changed, counts their changed lines, finds their
// declarations, and stores their redacted contents as git objects.
package contextstore

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed-3aff656d/entire/internal/catalog"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// Refs is the prefix of the refs of saved contexts.
const Refs = "refs/entire/context/"

// tries is the maximum number of attempts to update a ref that other processes move, or to
// find an unused id.
const tries = 8

// Store holds the saved contexts of a repository. Processes may use it concurrently.
type Store struct {
	Repo *git.Repo
	// Catalog opens the catalog; the store closes it. If it is nil or fails, the store uses
	// only the refs.
	Catalog func(ctx context.Context) (*catalog.Catalog, error)
	By      func(ctx context.Context) (git.Signature, error)
	Now     func() time.Time
	Random  io.Reader
}

// Put stores a saved context and returns its id. If the id is empty, it creates one; else
// it replaces the context with that id, or returns ErrNotFound if it was discarded
// meanwhile. A kept context does not become pending again. The content of a file is taken
// from the object Blob, or from Content if Blob is not set. A file with Omitted set is
// stored without content.
func (s Store) Put(ctx context.Context, c recall.Checkpoint) (string, error) {
	// All objects of the tree must exist: a ref to a tree with a missing object makes git
	// gc fail.
	c.Summary = singleLine(c.Summary)
	now := s.Now()
	if c.CreatedAt.IsZero() {
		c.CreatedAt = now
	}
	c.CreatedAt = c.CreatedAt.UTC().Truncate(time.Second)
	c.Status, c.Mode = cmp.Or(c.Status, recall.Kept), cmp.Or(c.Mode, recall.StatefulMode)
	c.Worktree = cmp.Or(c.Worktree, s.Repo.Root)
	d := &stored{Format: storedFormat, Order: c.CreatedAt.UnixNano(), Checkpoint: c}
	if now.Unix() == c.CreatedAt.Unix() {
		d.Order = now.UnixNano()
	}
	d.State = storedState{Analysis: c.State.Analysis, Context: c.State.Context}
	if err := s.commits().storeFiles(ctx, d, c.State.Files); err != nil {
		return "", fmt.Errorf("store context checkpoint: %w", err)
	}
	d.Checkpoint.State = recall.State{}
	before := stampOf(s.Repo)
	var made *stored
	var err error
	if c.ID == "" {
		made, err = s.create(ctx, d)
	} else {
		asked := d.Status
		made, err = s.revise(ctx, d.ID, func(old *stored) (*stored, error) {
			if d.Status = asked; old.Status == recall.Kept {
				d.Status = recall.Kept
			}
			if old.Order/int64(time.Second) == d.CreatedAt.Unix() {
				d.Order = old.Order
			}
			return d, nil
		})
	}
	if err != nil {
		return "", fmt.Errorf("store context checkpoint: %w", err)
	}
	s.note(ctx, before, catalog.ContextChange{Put: []catalog.Context{rowOf(made)}})
	return made.ID, nil
}

// create stores a new context with an unused id: six hex digits, a dash and six more. The
// dash distinguishes it from ids of committed checkpoints.
func (s Store) create(ctx context.Context, d *stored) (*stored, error) {
	var err error
	for range tries {
		var b [6]byte
		if _, err := io.ReadFull(s.Random, b[:]); err != nil {
			return nil, fmt.Errorf("make an id: %w", err)
		}
		text := hex.EncodeToString(b[:])
		d.ID = text[:6] + "-" + text[6:]
		var oid git.OID
		if oid, err = s.write(ctx, d, nil); err != nil {
			return nil, err
		}
		err = git.UpdateRefs(ctx, s.Repo, "", []git.RefChange{{Name: Refs + d.ID, New: oid}})
		if err == nil {
			d.oid = oid
			return d, nil
		}
		if !errors.Is(err, git.ErrRefMoved) {
			return nil, err
		}
	}
	return nil, err
}

// revise replaces the context id with the result of change, unless that is nil. It calls
// change again if another process has changed the context meanwhile.
func (s Store) revise(ctx context.Context, id string, change func(old *stored) (*stored, error)) (*stored, error) {
	for n := 1; ; n++ {
		old, err := s.commits().load(ctx, id)
		if err != nil {
			return nil, err
		}
		made, err := change(old)
		if err != nil || made == nil {
			return old, err
		}
		oid, err := s.write(ctx, made, old)
		if err != nil {
			return nil, err
		}
		err = git.UpdateRefs(ctx, s.Repo, "", []git.RefChange{{Name: Refs + id, New: oid, Old: old.oid}})
		if err == nil {
			made.oid = oid
			return made, nil
		}
		if !errors.Is(err, git.ErrRefMoved) || n == tries {
			return nil, err
		}
	}
}

// SetStatus sets the status of a saved context.
func (s Store) SetStatus(ctx context.Context, id string, to recall.Status) error {
	before := stampOf(s.Repo)
	made, err := s.revise(ctx, id, func(old *stored) (*stored, error) {
		if old.Status == to {
			return nil, nil //nolint:nilnil // nothing is to be changed
		}
		changed := *old
		changed.Status = to
		return &changed, nil
	})
	if err != nil {
		return fmt.Errorf("mark context checkpoint %s as %s: %w", id, to, err)
	}
	s.note(ctx, before, catalog.ContextChange{Put: []catalog.Context{rowOf(made)}})
	return nil
}

// Discard removes saved contexts. Missing ones are not an error.
func (s Store) Discard(ctx context.Context, ids ...string) error {
	wanted := make(map[string]struct{}, len(ids))
	for _, id := range ids {
		wanted[id] = struct{}{}
	}
	for n := 1; ; n++ {
		before := stampOf(s.Repo)
		refs, err := s.commits().all(ctx)
		if err != nil {
			return fmt.Errorf("discard context checkpoints: %w", err)
		}
		var updates []git.RefChange
		for id, oid := range refs {
			if _, ok := wanted[id]; ok {
				updates = append(updates, git.RefChange{Name: Refs + id, Old: oid})
			}
		}
		err = git.UpdateRefs(ctx, s.Repo, "", updates)
		if err == nil {
			s.note(ctx, before, catalog.ContextChange{Drop: ids})
			return nil
		}
		if !errors.Is(err, git.ErrRefMoved) || n == tries {
			return fmt.Errorf("discard context checkpoints: %w", err)
		}
	}
}

// Prune removes automatic contexts, including pending ones, beyond the newest keep of each
// worktree, and those older than age (0: no limit), and returns the removed entries. It
// never removes requested contexts, and the newest of a worktree only if it is older than
// age.
func (s Store) Prune(ctx context.Context, keep int, age time.Duration) ([]Entry, error) {
	var oldest time.Time // of the remaining ones
	if age > 0 {
		oldest = s.Now().Add(-age)
	}
	for n := 1; ; n++ {
		before := stampOf(s.Repo)
		all, err := s.rows(ctx, catalog.ContextFilter{})
		if err != nil {
			return nil, fmt.Errorf("prune context checkpoints: %w", err)
		}
		var updates []git.RefChange
		var gone []Entry
		var ids []string
		for _, r := range surplus(all, keep, oldest) {
			updates = append(updates, git.RefChange{Name: Refs + r.ID, Old: git.OID(r.OID)})
			gone, ids = append(gone, entryOf(r)), append(ids, r.ID)
		}
		if len(updates) == 0 {
			return nil, nil
		}
		err = git.UpdateRefs(ctx, s.Repo, "", updates)
		if err == nil {
			s.note(ctx, before, catalog.ContextChange{Drop: ids})
			return gone, nil
		}
		if !errors.Is(err, git.ErrRefMoved) || n == tries {
			return nil, fmt.Errorf("prune context checkpoints: %w", err)
		}
	}
}

// surplus returns the rows that Prune removes; all are ordered from the newest.
func surplus(all []catalog.Context, keep int, before time.Time) []catalog.Context {
	seen, automatic := map[string]bool{}, map[string]int{}
	var list []catalog.Context
	for _, r := range all {
		newest := !seen[r.Worktree]
		seen[r.Worktree] = true
		if !recall.Cause(r.Cause).Automatic() {
			continue
		}
		automatic[r.Worktree]++
		if r.Created.Before(before) || automatic[r.Worktree] > keep && !newest {
			list = append(list, r)
		}
	}
	return list
}

// IsID reports whether text is a complete id.
func IsID(text string) bool {
	if len(text) != 13 || text[6] != '-' {
		return false
	}
	return plain.IsHex(text[:6]) && plain.IsHex(text[7:])
}
