package stores

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/redact"
)

// HoldLock acquires the store's lock. It waits for at most wait, and reports a wait that isn't short.
func (s *Selection) HoldLock(ctx context.Context, wait time.Duration) (*bands.Held, error) {
	ending, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	soon, stop := context.WithTimeout(ending, silentWait)
	defer stop()
	held, err := s.Hold(soon)
	if errors.Is(err, disk.ErrLocked) && ending.Err() == nil {
		if !s.Command.Quiet {
			s.Command.Streams.Notef("Waiting for another command that is using the store.")
		}
		held, err = s.Hold(ending)
	}
	if err == nil {
		s.bind(held)
	}
	return held, err
}

// bind records the identity of the tree's directory in a store of an older version. A repository's
// own store doesn't need it: it is in the tree.
func (s *Selection) bind(held *bands.Held) {
	if s.Entry.RootID != "" || s.IsVolume() || s.Entry.Root != s.Options.Root || s.repo != nil && s.Entry.Dir == registry.RepositoryDir(s.repo.CommonDir) {
		return
	}
	info, err := s.Info()
	if err != nil || info.RootID != "" || info.Root != s.Entry.Root {
		return
	}
	if info.RootID = disk.Identity(info.Root); info.RootID != "" {
		_ = held.SetInfo(info) // the next command tries again
	}
}

// Take takes a snapshot and records it in the catalog.
func (s *Selection) Take(ctx context.Context, o capture.TakeOptions) (taken capture.Taken, err error) {
	if s.IsVolume() {
		return takeVolume(ctx, s, o)
	}
	held, err := s.HoldLock(ctx, LockWait)
	if err != nil {
		return taken, err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	o.Options = s.Options
	if s.Command.Quiet {
		taken, err = capture.Take(ctx, held, o)
	} else {
		err = s.Command.Streams.Sized("Reading the tree", func(reach func(string, ui.Amount)) (err error) {
			o.Progress = format.ProgressOnly(reach)
			taken, err = capture.Take(ctx, held, o)
			return err
		})
	}
	if errors.Is(err, bands.ErrNoRoom) {
		if err = s.thin(ctx, held, o.Cause, retention.MakeRoom); err == nil {
			taken, err = capture.Take(ctx, held, o)
		}
	}
	if err != nil || taken.Unchanged {
		return taken, err
	}
	s.Record(ctx, taken.Snapshot)
	return taken, s.thin(ctx, held, o.Cause, retention.MaybePrune)
}

// thin removes automatic snapshots beyond the limits, after an automatic snapshot.
func (s *Selection) thin(ctx context.Context, held *bands.Held, cause bands.Cause, prune func(context.Context, *bands.Held, retention.Policy) (retention.Pruned, error)) error {
	config, _ := s.Registry.Config() // a bad value has its default, and status reports it
	if cause != bands.Auto || config.NoPrune {
		return nil
	}
	pruned, err := prune(ctx, held, s.Policy(config.Keep))
	s.Forget(ctx, pruned.Versions)
	return err
}

// Record adds a snapshot to the catalog. After a failure the catalog can be rebuilt.
func (s *Selection) Record(ctx context.Context, v bands.Snapshot) {
	s.Command.noteCatalog(s.Registry.Rows().Record(ctx, s.Store, v))
}

// Forget removes the rows of snapshots from the catalog.
func (s *Selection) Forget(ctx context.Context, versions []bands.Version) {
	if len(versions) > 0 {
		s.Command.noteCatalog(s.Registry.Rows().Forget(ctx, s.Store, versions...))
	}
}

func (c *Command) noteCatalog(err error) {
	if err == nil || c.Quiet {
		return
	}
	c.late = append(c.late, fmt.Sprintf("The catalog is outdated: %v", err), "hint: `"+c.call("doctor")+"` rebuilds it")
}

// ScanTree reads the present tree.
func (s *Selection) ScanTree(ctx context.Context) (*capture.Present, error) {
	return s.Scan(ctx, s.Options)
}

// Scan reads a tree.
func (s *Selection) Scan(ctx context.Context, options bands.Options) (present *capture.Present, err error) {
	err = s.Command.Streams.Sized("Reading the tree", func(reach func(string, ui.Amount)) (err error) {
		present, err = capture.ScanReporting(ctx, s.Store, options, format.ProgressOnly(reach))
		return err
	})
	return present, err
}

// RequireVersion returns an error unless the store has the version.
func (s *Selection) RequireVersion(v bands.Version) error {
	_, err := s.Snapshot(v)
	if errors.Is(err, bands.ErrNoSnapshot) {
		return err
	}
	return nil // a damaged one can be deleted and verified
}

// Own returns a snapshot of this tree. It refuses a snapshot of another worktree, which would
// overwrite this one with files of another branch.
func (s *Selection) Own(v bands.Version) (bands.Snapshot, error) {
	snapshot, err := s.Snapshot(v)
	if err != nil || snapshot.Lineage == s.Options.Lineage {
		return snapshot, err
	}
	return snapshot, app.WithHint(fmt.Errorf("%s belongs to another worktree: %s", v, snapshot.Root),
		fmt.Sprintf("run `%s` there, or `%s <dir>`", s.Command.call("restore "+v.String()), s.Command.call("export "+v.String())))
}

// Delete deletes a snapshot.
func (s *Selection) Delete(ctx context.Context, v bands.Version) (err error) {
	held, err := s.HoldLock(ctx, LockWait)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	if err := retention.Delete(held, v); err != nil {
		return err
	}
	s.Forget(ctx, []bands.Version{v})
	return nil
}

// Policy returns the store's retention policy; keep is the number of automatic snapshots, 0 for the
// retention by age.
func (s *Selection) Policy(keep int) retention.Policy {
	return retention.Policy{Now: s.Command.Now(), Keep: keep, Cap: s.Cap()}
}

// Cap returns the maximum size of the store in bytes.
func (s *Selection) Cap() int64 { return bands.CapAt(s.Entry.Dir, s.Options.Cap) }

// Redact returns the beginning of a prompt, without secrets.
func (c *Command) Redact(prompt string) string {
	if prompt == "" {
		return ""
	}
	return checkpoint.FirstPrompt(Redact(prompt))
}

// Redact returns a text without secrets.
func Redact(text string) string { return redact.New().Text(text) }

// Next returns the version of the next snapshot. The store's file "version" begins with the highest
// version ever assigned.
func (s *Selection) Next() (bands.Version, error) {
	versions, err := s.Versions()
	if err != nil {
		return 0, err
	}
	last := bands.Version(0)
	if n := len(versions); n > 0 {
		last = versions[n-1]
	}
	data, err := os.ReadFile(filepath.Join(s.Dir(), "version"))
	if err != nil {
		return last + 1, nil //nolint:nilerr // a lost file is rebuilt from the snapshots
	}
	text, _, _ := strings.Cut(string(data), " ")
	if given, err := bands.ParseVersion(text); err == nil {
		last = max(last, given)
	}
	return last + 1, nil
}
