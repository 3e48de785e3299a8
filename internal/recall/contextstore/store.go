// Package contextstore stores saved contexts: each is a commit at
// refs/entire/context/<id>, and a row in the catalog that can be made again from the
// commit. docs/formats/context.md is the format.
package contextstore

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed-3aff656d/entire/internal/catalog"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitref"
	"github.com/seed-3aff656d/entire/internal/recall"
)

// Refs is where the refs of saved contexts are.
const Refs = "refs/entire/context/"

// tries is how often a ref that somebody else moved is tried again, or another
// id where one is taken.
const tries = 8

// Store keeps saved contexts of a repository: each a commit at
// refs/entire/context/<id>, and a row in the catalog that can be made again from
// it. Its methods may be called by many processes at once.
type Store struct {
	Repo *git.Repo
	// Catalog opens the catalog, which the store closes; its error is not the
	// store's, which then works from the refs. Nil: there is none.
	Catalog func(ctx context.Context) (*catalog.Catalog, error)
	By      func(ctx context.Context) (git.Signature, error)
	Now     func() time.Time
	Random  io.Reader
}

// Put stores a checkpoint, whose id is empty for a new one or that of one that
// is replaced, and answers its id. The objects of the contents are there already,
// or the contents are in the files; of a file with neither the name stays. One
// that was discarded meanwhile is not replaced but ErrNotFound, and one that was
// kept doesn't become pending again.
func (s Store) Put(ctx context.Context, c recall.Checkpoint) (string, error) {
	d, err := s.draft(ctx, c)
	if err != nil {
		return "", fmt.Errorf("store context checkpoint: %w", err)
	}
	before, put := s.stamp(), s.create
	if c.ID != "" {
		put = s.replace
	}
	made, err := put(ctx, d)
	if err != nil {
		return "", fmt.Errorf("store context checkpoint: %w", err)
	}
	s.note(ctx, before, catalog.ContextChange{Put: []catalog.Context{rowOf(made)}})
	return made.ID, nil
}

// create stores a new one. An id that is taken gives way to another.
func (s Store) create(ctx context.Context, d *stored) (*stored, error) {
	var err error
	for range tries {
		if d.ID, err = s.newID(); err != nil {
			return nil, err
		}
		var oid git.OID
		if oid, err = s.write(ctx, d, nil); err != nil {
			return nil, err
		}
		err = gitref.Update(ctx, s.Repo, "", []gitref.Change{{Name: Refs + d.ID, New: oid}})
		if err == nil {
			d.oid = oid
			return d, nil
		}
		if !errors.Is(err, gitref.ErrMoved) {
			return nil, err
		}
	}
	return nil, err
}

// replace stores d in the place of what has its id.
func (s Store) replace(ctx context.Context, d *stored) (*stored, error) {
	asked := d.Status
	return s.revise(ctx, d.ID, func(old *stored) (*stored, error) {
		if d.Status = asked; old.Status == recall.Kept {
			d.Status = recall.Kept
		}
		if old.Order/int64(time.Second) == d.CreatedAt.Unix() {
			d.Order = old.Order
		}
		return d, nil
	})
}

// revise makes of the checkpoint id what change answers, nil for nothing, and
// again if somebody else has changed it meanwhile.
func (s Store) revise(ctx context.Context, id string, change func(old *stored) (*stored, error)) (*stored, error) {
	for n := 1; ; n++ {
		old, err := s.load(ctx, id)
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
		err = gitref.Update(ctx, s.Repo, "", []gitref.Change{{Name: Refs + id, New: oid, Old: old.oid}})
		if err == nil {
			made.oid = oid
			return made, nil
		}
		if !errors.Is(err, gitref.ErrMoved) || n == tries {
			return nil, err
		}
	}
}

// SetStatus changes what became of a checkpoint.
func (s Store) SetStatus(ctx context.Context, id string, to recall.Status) error {
	before := s.stamp()
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

// Discard removes checkpoints. Those that are gone already are no error.
func (s Store) Discard(ctx context.Context, ids ...string) error {
	wanted := make(map[string]struct{}, len(ids))
	for _, id := range ids {
		wanted[id] = struct{}{}
	}
	for n := 1; ; n++ {
		before := s.stamp()
		refs, err := s.refs(ctx)
		if err != nil {
			return fmt.Errorf("discard context checkpoints: %w", err)
		}
		var updates []gitref.Change
		for id, oid := range refs {
			if _, ok := wanted[id]; ok {
				updates = append(updates, gitref.Change{Name: Refs + id, Old: oid})
			}
		}
		err = gitref.Update(ctx, s.Repo, "", updates)
		if err == nil {
			s.note(ctx, before, catalog.ContextChange{Drop: ids})
			return nil
		}
		if !errors.Is(err, gitref.ErrMoved) || n == tries {
			return fmt.Errorf("discard context checkpoints: %w", err)
		}
	}
}

// Prune removes automatic checkpoints, pending ones too, beyond the newest keep of
// each worktree, and those older than the age (0: of any age), and answers what it
// removed. Requested ones stay, and so does the newest of a worktree unless it is
// too old.
func (s Store) Prune(ctx context.Context, keep int, age time.Duration) ([]Entry, error) {
	for n := 1; ; n++ {
		before := s.stamp()
		all, err := s.rows(ctx, catalog.ContextFilter{})
		if err != nil {
			return nil, fmt.Errorf("prune context checkpoints: %w", err)
		}
		var updates []gitref.Change
		var gone []Entry
		var ids []string
		for _, r := range surplus(all, keep, s.before(age)) {
			updates = append(updates, gitref.Change{Name: Refs + r.ID, Old: git.OID(r.OID)})
			gone, ids = append(gone, entryOf(r)), append(ids, r.ID)
		}
		if len(updates) == 0 {
			return nil, nil
		}
		err = gitref.Update(ctx, s.Repo, "", updates)
		if err == nil {
			s.note(ctx, before, catalog.ContextChange{Drop: ids})
			return gone, nil
		}
		if !errors.Is(err, gitref.ErrMoved) || n == tries {
			return nil, fmt.Errorf("prune context checkpoints: %w", err)
		}
	}
}

// before is when things of that age were made; zero for no age.
func (s Store) before(age time.Duration) time.Time {
	if age <= 0 {
		return time.Time{}
	}
	return s.Now().Add(-age)
}

// surplus are the rows, of which the newest come first, that Prune removes.
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

// newID is six hex digits, a dash and six more: never taken for the id of a
// commit's checkpoint.
func (s Store) newID() (string, error) {
	var b [6]byte
	if _, err := io.ReadFull(s.Random, b[:]); err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	text := hex.EncodeToString(b[:])
	return text[:6] + "-" + text[6:], nil
}

// IsID says whether text is a whole id.
func IsID(text string) bool {
	if len(text) != 13 || text[6] != '-' {
		return false
	}
	return isHex(text[:6]) && isHex(text[7:])
}

func isHex(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
