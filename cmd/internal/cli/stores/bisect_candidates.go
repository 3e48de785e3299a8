package stores

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/strategy/rewind"
)

// candidates returns the snapshots to search, the oldest first. Snapshots in which nothing changed
// are left out; with paths, those in which no path changed.
func (c *command) candidates(ctx context.Context, o *opened, opts runOptions, paths []string) ([]bands.Version, error) {
	all, _ := o.Snapshots() // unreadable ones are left out
	all = slices.DeleteFunc(all, func(s bands.Snapshot) bool { return s.Lineage != o.Options.Lineage || len(s.Only) > 0 })
	if len(all) == 0 {
		return nil, c.NoCheckpoints()
	}
	from := all[0].Version
	var err error
	if opts.from != "" {
		if from, err = c.moment(ctx, o, all, opts.from); err != nil {
			return nil, err
		}
	}
	to := all[len(all)-1].Version
	switch {
	case opts.to != "" && opts.to != "now":
		if to, err = c.moment(ctx, o, all, opts.to); err != nil {
			return nil, err
		}
	case o.Entry.Active(): // the present tree
		if err := o.CheckThere(); err != nil {
			return nil, err
		}
		taken, err := o.Take(ctx, capture.TakeOptions{Cause: bands.Auto, Message: "before bisect", SkipUnchanged: true})
		if err != nil {
			return nil, err
		}
		if !taken.Unchanged {
			all = append(all, taken.Snapshot)
		}
		to = taken.Snapshot.Version
	}
	if from >= to {
		return nil, app.Usagef("--from is %s and --to is %s: --from must be earlier", from, to)
	}
	all = c.leading(slices.DeleteFunc(all, func(s bands.Snapshot) bool { return s.Version > to }), from)
	versions, err := changing(ctx, o, all, paths)
	if err == nil && len(versions) < 2 {
		err = app.WithHint(fmt.Errorf("nothing changed from %s to %s", from, to), "`"+c.call("checkpoint list")+"` lists the snapshots")
	}
	return versions, err
}

// leading returns the snapshots from a version on that led to the last of all, and notes those that
// it leaves out because a restore took them back, or why it leaves none out.
func (c *command) leading(all []bands.Snapshot, from bands.Version) []bands.Snapshot {
	list, partly := bands.LeadingSnapshots(all)
	since := func(s bands.Snapshot) bool { return s.Version < from }
	all, list = slices.DeleteFunc(all, since), slices.DeleteFunc(list, since)
	if len(list) == 0 || list[0].Version != from {
		c.Streams.Notef("A restore undid %s, which are searched because --from is one of them.", from)
		return all
	}
	var left []bands.Version
	for _, s := range all {
		if !slices.ContainsFunc(list, func(in bands.Snapshot) bool { return in.Version == s.Version }) {
			left = append(left, s.Version)
		}
	}
	if len(left) > 0 {
		c.Streams.Notef("Left out %s: a restore undid them.", strings.Join(names(left), ", "))
	}
	if partly {
		c.Streams.Notef("A restore undid changes of some paths: the snapshots before it are searched, too.")
	}
	return list
}

// changing returns the first snapshot and those that differ from their predecessors, with paths
// only in one of them.
func changing(ctx context.Context, o *opened, all []bands.Snapshot, paths []string) ([]bands.Version, error) {
	if o.IsVolume() {
		return changingInVolume(ctx, o, all, paths)
	}
	reader := diff.OpenFileHistory(o.Store, all[len(all)-1], o.Options)
	defer func() { _ = reader.Close() }()
	list := []bands.Version{all[0].Version}
	for i := 1; i < len(all); i++ {
		differs := all[i].Tree.Hash != all[i-1].Tree.Hash
		if differs && len(paths) > 0 {
			differs = false
			for _, path := range paths {
				touched, err := reader.Touches(ctx, &all[i-1], all[i], path)
				if err != nil && ctx.Err() != nil {
					return nil, ctx.Err()
				}
				differs = differs || touched || err != nil // on an error they may differ
			}
		}
		if differs {
			list = append(list, all[i].Version)
		}
	}
	return list, nil
}

// changingInVolume is changing for a volume. Without paths it returns all snapshots: a comparison
// can take longer than another run.
func changingInVolume(ctx context.Context, o *opened, all []bands.Snapshot, paths []string) ([]bands.Version, error) {
	list := []bands.Version{all[0].Version}
	for i := 1; i < len(all); i++ {
		if len(paths) == 0 {
			list = append(list, all[i].Version)
			continue
		}
		changed, err := ChangedInVolume(ctx, o.Selection, []bands.Version{all[i-1].Version, all[i].Version})
		if err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		touches := func(file string) bool {
			return slices.ContainsFunc(paths, func(path string) bool { return file == path || strings.HasPrefix(file, path+"/") })
		}
		if err != nil || slices.ContainsFunc(changed, touches) { // on an error they may differ
			list = append(list, all[i].Version)
		}
	}
	return list, nil
}

// momentOf returns the snapshot of a moment as `entire rewind` takes it.
func (c *Command) momentOf(ctx context.Context, spec string) (bands.Version, error) {
	repo, err := c.Worktree()
	if err != nil {
		return 0, err
	}
	defer func() { _ = repo.Close() }()
	p, err := rewind.FindPoint(ctx, c.Workspace(repo), spec)
	if _, unknown := errors.AsType[*rewind.PointError](err); unknown {
		return 0, app.WithHint(err, "`entire rewind --list` lists the points")
	}
	if err == nil && p.Snapshot == 0 {
		err = app.WithHint(fmt.Errorf("no snapshot of %s", spec), "`entire rewind --list` marks points that have one with \"snapshot\"")
	}
	return p.Snapshot, err
}

// moment returns the snapshot that spec names.
func (c *command) moment(ctx context.Context, o *opened, all []bands.Snapshot, spec string) (bands.Version, error) {
	if v, err := bands.ParseVersion(spec); err == nil && spec[0] == 'v' || !c.records && err == nil {
		s, err := o.Own(v)
		if err == nil && len(s.Only) > 0 {
			err = fmt.Errorf("%s only has the files that a rewind changed", v)
		}
		return v, err
	}
	if c.records {
		return c.momentOf(ctx, spec)
	}
	at, ok := rewind.ParseTime(spec, c.Now())
	if !ok {
		return 0, app.Usagef("%q is neither a version nor a time", spec)
	}
	for i := range slices.Backward(all) {
		if !all[i].Created.After(at) {
			return all[i].Version, nil
		}
	}
	return 0, app.WithCode(app.ExitNoVersion, app.WithHint(fmt.Errorf("%s: no snapshot is that old", spec),
		fmt.Sprintf("the oldest is %s, taken %s", all[0].Version, ui.Ago(at, all[0].Created))))
}
