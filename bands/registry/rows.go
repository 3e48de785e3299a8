package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/catalog"
	"github.com/seed-3aff656d/entire/internal/database"
)

// CatalogPath returns the path of the catalog, empty if there is no place for one.
func (r *Registry) CatalogPath() string {
	if r.Home == "" {
		return ""
	}
	return filepath.Join(r.Home, "agentfs.db")
}

// Rows accesses the rows of the stores and their snapshots in the catalog at path; "" is no
// catalog. The stores are authoritative: a row may be missing or late without harm.
type Rows struct{ path string }

// Rows returns the rows of the registry's catalog.
func (r *Registry) Rows() Rows { return Rows{r.CatalogPath()} }

// with calls work with the open catalog. It returns ErrNoHome if there is no place for one.
func (r Rows) with(ctx context.Context, work func(c *catalog.Catalog) error) error {
	if r.path == "" {
		return ErrNoHome
	}
	c, err := catalog.Open(ctx, r.path)
	if err != nil {
		return err
	}
	return errors.Join(work(c), c.Close())
}

// Check returns the faults of the catalog, if it exists. Commands work without it, but slower;
// Doctor repairs it.
func (r Rows) Check(ctx context.Context) error {
	if isMissing(r.path) {
		return nil
	}
	return r.with(ctx, func(c *catalog.Catalog) error { return c.Check(ctx) })
}

// note writes the store's row. Errors are ignored: the store is authoritative, and the next
// snapshot or Doctor writes the row.
func (r Rows) note(ctx context.Context, e Entry) {
	_ = r.with(ctx, func(c *catalog.Catalog) error { return addStore(ctx, c, e) })
}

// drop removes the store's rows and ignores errors, too.
func (r Rows) drop(ctx context.Context, id string) {
	_ = r.with(ctx, func(c *catalog.Catalog) error { return c.DeleteStore(ctx, id) })
}

// find returns the store with that name in the catalog, if that is still its name.
func (r Rows) find(ctx context.Context, name string) (e Entry, ok bool) {
	if isMissing(r.path) {
		return Entry{}, false
	}
	err := r.with(ctx, func(c *catalog.Catalog) error {
		row, err := c.StoreByName(ctx, name)
		if err != nil {
			return err
		}
		e, err = loadEntry(row.Dir)
		return err
	})
	return e, err == nil && e.Name == name
}

// dirs returns the folders of the stores in the catalog.
func (r Rows) dirs(ctx context.Context) []string {
	if isMissing(r.path) {
		return nil
	}
	var dirs []string
	_ = r.with(ctx, func(c *catalog.Catalog) error {
		rows, err := c.Stores(ctx)
		for _, row := range rows {
			dirs = append(dirs, row.Dir)
		}
		return err
	})
	return dirs
}

// addStore writes the store's row. It replaces another store's row with the same name if that store
// no longer exists or has been renamed.
func addStore(ctx context.Context, c *catalog.Catalog, e Entry) error {
	err := c.AddStore(ctx, storeRow(e))
	if !errors.Is(err, catalog.ErrNameTaken) {
		return err
	}
	other, err := c.StoreByName(ctx, e.Name)
	if err != nil {
		return err
	}
	if now, err := loadEntry(other.Dir); err == nil && now.ID == other.ID && now.Name == e.Name {
		return ErrNameTaken // Doctor renames one of them
	}
	if err := c.DeleteStore(ctx, other.ID); err != nil {
		return err
	}
	return c.AddStore(ctx, storeRow(e))
}

func storeRow(e Entry) catalog.Store {
	return catalog.Store{ID: e.ID, Name: e.Name, Dir: e.Dir, Root: e.Root, Size: e.Size, Created: e.Created, Mounted: e.Mounted}
}

// Record writes the row of a snapshot, and the store's if it has none. The caller may hold the
// store's lock. After an error the row is missing until the next Checkpoints writes it.
func (r Rows) Record(ctx context.Context, s *bands.Store, snap bands.Snapshot) error {
	if r.path == "" {
		return nil
	}
	return r.with(ctx, func(c *catalog.Catalog) error {
		return inStore(ctx, c, s, func(id string) error { return c.AddCheckpoints(ctx, id, rowOf(s, snap)) })
	})
}

// Forget removes the rows of deleted snapshots. Without a driver for databases it leaves that to the
// next reader of the rows.
func (r Rows) Forget(ctx context.Context, s *bands.Store, versions ...bands.Version) error {
	if r.path == "" || !database.HasDriver() {
		return nil
	}
	numbers := make([]int, len(versions))
	for i, v := range versions {
		numbers[i] = int(v)
	}
	return r.with(ctx, func(c *catalog.Catalog) error {
		return c.DeleteCheckpoints(ctx, bands.StoreID(s.Dir()), numbers...)
	})
}

// inStore calls work with the id of the store. If the store has no row, it writes the row and calls
// work again.
func inStore(ctx context.Context, c *catalog.Catalog, s *bands.Store, work func(id string) error) error {
	id := bands.StoreID(s.Dir())
	err := work(id)
	if !errors.Is(err, catalog.ErrNotFound) {
		return err
	}
	e, err := entry(s)
	if err != nil {
		return err
	}
	if err := addStore(ctx, c, e); err != nil {
		return err
	}
	return work(id)
}

// stampOf returns the mtime of the snapshot's folder; 0 if the folder doesn't exist.
func stampOf(s *bands.Store, v bands.Version) int64 {
	info, err := os.Lstat(s.SnapshotDir(v))
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}

func rowOf(s *bands.Store, snap bands.Snapshot) catalog.Checkpoint {
	c := catalog.Checkpoint{
		Version: int(snap.Version), Message: snap.Message, Kind: string(snap.Cause), Created: snap.Created, Parent: int(snap.Parent),
		Lineage: snap.Lineage, Root: snap.Root, Agent: snap.Causality.Agent, Session: snap.Causality.Session, Turn: snap.Causality.Turn,
		Action: snap.Causality.Action, Prompt: snap.Causality.Prompt, Commit: snap.Causality.Commit, Late: snap.Late,
		Files: snap.Totals.Files, Bytes: snap.Totals.Bytes, Bands: len(snap.Bands), Stamp: stampOf(s, snap.Version),
		Branch: snap.Causality.Branch, Tree: fmt.Sprintf("%s:%d:%d", snap.Tree.Hash, snap.Tree.Band, snap.Tree.Offset),
	}
	if len(snap.Causality.Metadata) > 0 {
		text, _ := json.Marshal(snap.Causality.Metadata) // strings can't fail
		c.Metadata = string(text)
	}
	for _, p := range snap.Pairs {
		c.Pairs = append(c.Pairs, catalog.Pair(p))
	}
	return c
}

// treeOf parses a reference written by rowOf; any other text is the zero one.
func treeOf(text string) bands.TreeRef {
	hash, place, _ := strings.Cut(text, ":")
	number, at, _ := strings.Cut(place, ":")
	bandNumber, err := strconv.ParseUint(number, 10, 32)
	offset, err2 := strconv.ParseUint(at, 10, 32)
	if errors.Join(err, err2) != nil {
		return bands.TreeRef{}
	}
	return bands.TreeRef{Hash: hash, Band: uint32(bandNumber), Offset: uint32(offset)}
}

func fromRow(c catalog.Checkpoint) bands.Snapshot {
	snap := bands.Snapshot{
		Version: bands.Version(c.Version), Message: c.Message, Cause: bands.Cause(c.Kind), Created: c.Created, Parent: bands.Version(c.Parent),
		Root: c.Root, Lineage: c.Lineage, Late: c.Late, Tree: treeOf(c.Tree),
		Causality: bands.Causality{
			Agent: c.Agent, Session: c.Session, Turn: c.Turn, Action: c.Action, Prompt: c.Prompt, Commit: c.Commit, Branch: c.Branch,
		},
	}
	if c.Metadata != "" {
		_ = json.Unmarshal([]byte(c.Metadata), &snap.Causality.Metadata) // derived data: a bad value counts as none
	}
	snap.Totals.Files, snap.Totals.Bytes = c.Files, c.Bytes
	for _, p := range c.Pairs {
		snap.Pairs = append(snap.Pairs, bands.Pair(p))
	}
	return snap
}

// Checkpoints returns the store's snapshots from the catalog, the newest first, at most limit (0:
// all). They lack Bands, all Totals but files and bytes, times below a second, and fields of
// Causality without a column. Rows that don't agree with the store are rewritten; without a usable
// catalog the snapshots are read from the store. A snapshot that can't be read is in the joined
// error.
func (r Rows) Checkpoints(ctx context.Context, s *bands.Store, limit int) ([]bands.Snapshot, error) {
	versions, err := s.Versions()
	if err != nil {
		return nil, err
	}
	slices.Reverse(versions)
	if limit > 0 && limit < len(versions) {
		versions = versions[:limit]
	}
	var list []bands.Snapshot
	var unreadable error
	failed := r.with(ctx, func(c *catalog.Catalog) error {
		rows, err := c.Checkpoints(ctx, bands.StoreID(s.Dir()), limit)
		if err != nil {
			return err
		}
		list, unreadable = agree(ctx, c, s, rows, versions)
		return nil
	})
	if failed == nil {
		return list, unreadable
	}
	return readSnapshots(s, versions)
}

// chunk is the number of snapshots that Each reads first; it doubles each time, up to maxChunk.
const (
	chunk    = 64
	maxChunk = 4096
)

// Each calls visit with the store's snapshots, as Checkpoints returns them, until it returns false.
// It reads the visited rows, and some more.
func (r Rows) Each(ctx context.Context, s *bands.Store, visit func(bands.Snapshot) bool) error {
	left, err := s.Versions()
	if err != nil {
		return err
	}
	slices.Reverse(left)
	var bad []error
	pass := func(list []bands.Snapshot, unreadable error) (more bool) {
		bad = append(bad, unreadable)
		for _, snap := range list {
			if !visit(snap) {
				return false
			}
		}
		return ctx.Err() == nil
	}
	ended := false
	_ = r.with(ctx, func(c *catalog.Catalog) error { // after an error the rest is read from the store
		for n := chunk; len(left) > 0 && !ended; n = min(2*n, maxChunk) {
			part := left[:min(n, len(left))]
			rows, err := c.CheckpointsBetween(ctx, bands.StoreID(s.Dir()), int(part[len(part)-1]), int(part[0]))
			if err != nil {
				return err
			}
			left = left[len(part):]
			ended = !pass(agree(ctx, c, s, rows, part))
		}
		return nil
	})
	for len(left) > 0 && !ended {
		part := left[:min(chunk, len(left))]
		left = left[len(part):]
		ended = !pass(readSnapshots(s, part))
	}
	return errors.Join(append(bad, ctx.Err())...)
}

// agree returns the snapshots of the versions; both lists are descending. It uses the rows, and
// reads those snapshots whose row is missing or outdated.
func agree(ctx context.Context, c *catalog.Catalog, s *bands.Store, rows []catalog.Checkpoint, versions []bands.Version) ([]bands.Snapshot, error) {
	known := make(map[bands.Version]catalog.Checkpoint, len(rows))
	for _, row := range rows {
		known[bands.Version(row.Version)] = row
	}
	list := make([]bands.Snapshot, 0, len(versions))
	var fresh []catalog.Checkpoint
	var bad []error
	for _, v := range versions {
		if had, ok := known[v]; ok && had.Tree != "" && had.Stamp == stampOf(s, v) {
			list = append(list, fromRow(had))
		} else if snap, err := s.Snapshot(v); err == nil {
			list = append(list, snap)
			fresh = append(fresh, rowOf(s, snap))
		} else if !errors.Is(err, bands.ErrNoSnapshot) { // deleted meanwhile
			bad = append(bad, err)
		}
		delete(known, v)
	}
	// known still has the rows of deleted snapshots. Failed writes are repeated the next time.
	if len(fresh) > 0 {
		_ = inStore(ctx, c, s, func(id string) error { return c.AddCheckpoints(ctx, id, fresh...) })
	}
	if len(known) > 0 {
		var gone []int
		for v := range known {
			if stampOf(s, v) == 0 {
				gone = append(gone, int(v))
			}
		}
		_ = c.DeleteCheckpoints(ctx, bands.StoreID(s.Dir()), gone...)
	}
	return list, errors.Join(bad...)
}

func readSnapshots(s *bands.Store, versions []bands.Version) ([]bands.Snapshot, error) {
	list := make([]bands.Snapshot, 0, len(versions))
	var bad []error
	for _, v := range versions {
		snap, err := s.Snapshot(v)
		if err == nil {
			list = append(list, snap)
		} else if !errors.Is(err, bands.ErrNoSnapshot) {
			bad = append(bad, err)
		}
	}
	return list, errors.Join(bad...)
}

// Remake rewrites the rows of a store, and compacts the catalog's files, so that nothing of former
// rows is left. The store may be nil. Does nothing without a catalog.
func (r Rows) Remake(ctx context.Context, s *bands.Store) error {
	if r.path == "" || isMissing(r.path) {
		return nil
	}
	return r.with(ctx, func(c *catalog.Catalog) error {
		if s != nil {
			e, err := entry(s)
			if err == nil {
				_, err = c.StoreByID(ctx, e.ID)
			}
			if errors.Is(err, catalog.ErrNotFound) {
				return c.Compact(ctx)
			}
			if err != nil {
				return err
			}
			snaps, _ := s.Snapshots() // an unreadable one has no row
			if err := replaceRows(ctx, c, s, e, snaps); err != nil {
				return err
			}
		}
		return c.Compact(ctx)
	})
}

// replaceRows replaces the rows of a store by those of the snapshots.
func replaceRows(ctx context.Context, c *catalog.Catalog, s *bands.Store, e Entry, snaps []bands.Snapshot) error {
	rows := make([]catalog.Checkpoint, len(snaps))
	for i, snap := range snaps {
		rows[i] = rowOf(s, snap)
	}
	return c.ReplaceCheckpoints(ctx, storeRow(e), rows)
}
