package registry

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/catalog"
)

// Report has the findings and repairs of Doctor.
type Report struct {
	// SetAside is the new path of a damaged catalog; empty if it was sound.
	SetAside string `json:"set_aside,omitempty"`
	Stores   int    `json:"stores"`
	// Checkpoints is the number of rows of snapshots in the catalog.
	Checkpoints int `json:"checkpoints"`
	// Mended lists the repairs, Problems the faults that remain, one line each.
	Mended   []string `json:"mended"`
	Problems []string `json:"problems"`
}

// Doctor rebuilds the catalog from the stores: those below Home, those that were made on this
// machine and those in the folders also. It sets a damaged catalog aside, removes leftovers of
// killed processes, renames stores with the same name, and keeps stores from reusing a version that
// the catalog had. It reports the number of finished stores to progress, unless that is nil.
func (r *Registry) Doctor(ctx context.Context, progress func(bands.Progress), also ...string) (Report, error) {
	d := doctor{Registry: r, progress: progress, report: Report{Mended: []string{}, Problems: []string{}}}
	err := r.alone(ctx, func() error { return d.run(ctx, also) })
	return d.report, err
}

type doctor struct {
	*Registry
	report   Report
	progress func(bands.Progress)
}

func (d *doctor) mended(format string, args ...any) {
	d.report.Mended = append(d.report.Mended, fmt.Sprintf(format, args...))
}

func (d *doctor) problem(format string, args ...any) {
	d.report.Problems = append(d.report.Problems, fmt.Sprintf(format, args...))
}

func (d *doctor) run(ctx context.Context, also []string) error {
	cfg, _ := readConfig(d.Home, d.UserHome) // Config reports what is wrong with it
	base := cfg.BasePath
	if err := d.checkCatalog(ctx); err != nil {
		return err
	}
	if err := d.pool(base); err != nil {
		d.problem("the pool: %v", err)
	}
	did, err := Converter{Registry: d.Registry}.endAlone(ctx)
	if err != nil {
		d.problem("a conversion was interrupted: %v", err)
	} else if did != "" {
		d.mended("%s", did)
	}
	dirs, err := d.list().dirs(base)
	if err != nil {
		return err
	}
	if base != "" {
		if err := sweepProbes(ctx, base); err != nil {
			d.problem("can't remove the leftovers of a probe: %v", err)
		}
	}
	made := slices.Concat(dirs, also)
	dirs = slices.Concat(made, d.Rows().dirs(ctx))
	d.complete(ctx, dirs)
	list, bad := loadEntries(dirs)
	d.unreadable(bad)
	if err := d.remembered(list, made); err != nil {
		return err
	}
	list, err = d.distinct(ctx, list)
	if err != nil {
		return err
	}
	d.report.Stores = len(list)
	if d.Home == "" {
		return nil
	}
	return d.Rows().with(ctx, func(c *catalog.Catalog) error {
		if err := d.dropRows(ctx, c, list); err != nil {
			return err
		}
		for i, e := range list {
			if d.progress != nil {
				d.progress(bands.Progress{Stage: "stores", Done: int64(i), Total: int64(len(list))})
			}
			if err := d.store(ctx, c, e); err != nil {
				d.problem("store %s: %v", e.Name, err)
			}
		}
		return nil
	})
}

// pool mounts the pool, removes incomplete stores of killed processes, and removes the pool if it
// is empty.
func (d *doctor) pool(base string) error {
	if base == "" {
		return nil
	}
	if err := volume.OpenPool(base); err != nil {
		return err
	}
	for _, folder := range foldersOf(base) {
		sweepMade(folder)
	}
	return volume.ClosePool(base)
}

// checkCatalog sets a damaged catalog aside.
func (d *doctor) checkCatalog(ctx context.Context) error {
	err := d.Rows().Check(ctx)
	if !errors.Is(err, catalog.ErrDamaged) {
		return err
	}
	to, err := catalog.SetAside(d.CatalogPath(), d.Now().UTC().Format("20060102T150405"))
	if err != nil {
		return err
	}
	d.report.SetAside = to
	d.mended("the catalog was damaged and moved to %s", to)
	return nil
}

func (d *doctor) unreadable(bad error) {
	joined, ok := bad.(interface{ Unwrap() []error })
	if !ok {
		return
	}
	for _, err := range joined.Unwrap() {
		d.problem("%v", err)
	}
}

// complete writes a new store.json, from the snapshots, for stores whose store.json is missing or
// damaged.
func (d *doctor) complete(ctx context.Context, dirs []string) {
	for _, dir := range dirs {
		_, err := bands.Open(dir)
		if !errors.Is(err, bands.ErrNoStore) && !errors.Is(err, bands.ErrDamaged) || isMissing(filepath.Join(dir, bands.SnapshotsFolder)) {
			continue
		}
		now := d.Now().UTC().Truncate(time.Second)
		info := bands.Info{Name: nameFrom(filepath.Base(dir)), Created: now, Mounted: &now}
		snaps, _ := bands.At(dir).Snapshots()
		if n := len(snaps); n > 0 {
			info.Root, info.Created, info.Driver = snaps[n-1].Root, snaps[0].Created, snaps[n-1].Volume
		}
		if dir == RepositoryDir(filepath.Dir(filepath.Dir(dir))) && info.Root != "" {
			info.Name = nameFrom(filepath.Base(info.Root))
		}
		if err := complete(ctx, dir, info); err != nil {
			d.problem("store %s: %v", dir, err)
			continue
		}
		d.mended("the store in %s had no store.json: written again", dir)
	}
}

// remembered rewrites the list of folders with those of existing stores that were made on this
// machine. Rows don't count: every store that a command worked on has one.
func (d *doctor) remembered(list []Entry, made []string) error {
	if d.Home == "" {
		return nil
	}
	was, err := d.list().read()
	if err != nil {
		return err
	}
	var now []string
	for _, dir := range was {
		if isMissing(dir) {
			d.mended("the store in %s no longer exists", dir)
		} else {
			now = append(now, dir)
		}
	}
	for _, e := range list {
		if slices.Contains(made, e.Dir) && !slices.Contains(now, e.Dir) {
			now = append(now, e.Dir)
		}
	}
	if slices.Equal(was, now) {
		return nil
	}
	return d.list().write(now)
}

// distinct renames stores that have the name of an older one.
func (d *doctor) distinct(ctx context.Context, list []Entry) ([]Entry, error) {
	slices.SortStableFunc(list, func(a, b Entry) int { return a.Created.Compare(b.Created) })
	taken := map[string]bool{}
	for _, e := range list {
		taken[e.Name] = true
	}
	seen := map[string]bool{"": true}
	for i, e := range list {
		if !seen[e.Name] {
			seen[e.Name] = true
			continue
		}
		want := e.Name
		if want == "" {
			want = nameFrom(filepath.Base(e.Root))
		}
		name := freeName(want, taken)
		now, err := d.change(ctx, e.Dir, func(info *bands.Info) { info.Name = name })
		if err != nil {
			return nil, fmt.Errorf("rename store in %s: %w", e.Dir, err)
		}
		d.mended("the store in %s is now called %s", e.Dir, name)
		taken[name], seen[name] = true, true
		list[i] = now
	}
	return list, nil
}

// dropRows removes the rows of stores that no longer exist.
func (d *doctor) dropRows(ctx context.Context, c *catalog.Catalog, list []Entry) error {
	rows, err := c.Stores(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if slices.ContainsFunc(list, func(e Entry) bool { return e.ID == row.ID }) {
			continue
		}
		if err := c.DeleteStore(ctx, row.ID); err != nil {
			return err
		}
		d.mended("the store %s no longer exists in %s", row.Name, row.Dir)
	}
	return nil
}

// store repairs one store and its rows.
func (d *doctor) store(ctx context.Context, c *catalog.Catalog, e Entry) error {
	s, err := bands.Open(e.Dir)
	if err != nil {
		return err
	}
	if isMissing(e.Root) {
		d.problem("store %s: its tree %s is missing", e.Name, e.Root)
	}
	had, err := c.StoreByID(ctx, e.ID)
	if err != nil && !errors.Is(err, catalog.ErrNotFound) {
		return err
	}
	// Remove leftovers, and let the store continue above the last version that had a row.
	h, err := hold(ctx, s)
	if err == nil {
		err = errors.Join(d.recover(h, e), h.Sweep(), h.Raise(bands.Version(had.Last)), h.Release())
	}
	if err != nil {
		d.problem("store %s: %v", e.Name, err)
	}
	if bad, err := s.Damaged(); err == nil && len(bad) > 0 {
		d.problem("store %s: %d damaged records; the next checkpoint repairs those whose files are unchanged, `agentfs verify` lists the rest",
			e.Name, len(bad))
	}
	snaps, bad := s.Snapshots()
	d.unreadable(bad)
	if err := replaceRows(ctx, c, s, e, snaps); err != nil {
		return err
	}
	if had.Checkpoints > len(snaps) {
		d.mended("store %s: the catalog listed %d deleted snapshots", e.Name, had.Checkpoints-len(snaps))
	}
	d.report.Checkpoints += len(snaps)
	return nil
}

// recover ends an interrupted snapshot or restore of a volume.
func (d *doctor) recover(h *bands.Held, e Entry) error {
	if e.Driver == "" {
		return nil
	}
	driver, ok := volume.Named(e.Driver, volume.Place{Store: e.Dir})
	if !ok {
		return fmt.Errorf("this version has no driver %s", e.Driver)
	}
	if thawed, err := driver.Thaw(e.Root); err != nil {
		return err
	} else if thawed {
		d.mended("store %s: an interrupted snapshot had left its volume frozen", e.Name)
	}
	done, was, err := volume.Recover(h, driver)
	if was {
		d.mended("store %s: %s", e.Name, done)
	}
	return err
}
