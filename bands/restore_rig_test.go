//go:build linux || darwin

package bands_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/verify"
)

// rig is a tree of a few files and its store.
type rig struct {
	t     *testing.T
	root  string
	store *bands.Store
	opts  bands.Options
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigAt(t, t.TempDir())
}

func newRigAt(t *testing.T, dir string) *rig {
	t.Helper()
	root := filepath.Join(dir, "tree")
	if err := errors.Join(os.Mkdir(root, 0o755), os.Mkdir(filepath.Join(dir, "home"), 0o755)); err != nil {
		t.Fatal(err)
	}
	store, err := bands.Create(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	return &rig{t: t, root: root, store: store, opts: bands.Options{
		Root: root, Lineage: bands.PlainLineage, Cap: 1 << 40, Floor: 1, Now: time.Now, Home: filepath.Join(dir, "home"),
		Hidden: []string{".git", ".entire"},
	}}
}

func (r *rig) path(name string) string { return filepath.Join(r.root, name) }

// write writes a file and makes its directories.
func (r *rig) write(name, text string) {
	r.t.Helper()
	r.must(errors.Join(os.MkdirAll(filepath.Dir(r.path(name)), 0o755), os.WriteFile(r.path(name), []byte(text), 0o644)))
}

func (r *rig) remove(name string) {
	r.t.Helper()
	r.must(os.RemoveAll(r.path(name)))
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// is checks that the file has the text; "" also means that it doesn't exist.
func (r *rig) is(name, want string) {
	r.t.Helper()
	got, err := os.ReadFile(r.path(name))
	if want == "" && errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil || string(got) != want {
		r.t.Errorf("%s is %q, %v; want %q", name, got, err, want)
	}
}

func (r *rig) hold() *bands.Held {
	r.t.Helper()
	h, err := r.store.Hold(r.t.Context())
	r.must(err)
	return h
}

// take takes a snapshot.
func (r *rig) take() bands.Version {
	r.t.Helper()
	h := r.hold()
	taken, err := capture.Take(r.t.Context(), h, capture.TakeOptions{Options: r.opts, Cause: bands.Named, Force: true})
	r.must(errors.Join(err, h.Release()))
	return taken.Snapshot.Version
}

// try restores a version and returns the result.
func (r *rig) try(v bands.Version, in restore.Scope) (restore.Result, error) {
	r.t.Helper()
	h := r.hold()
	done, err := restore.Run(r.t.Context(), h, v, restore.Options{Options: r.opts, Scope: in})
	r.must(h.Release())
	return done, err
}

func (r *rig) restore(v bands.Version, in restore.Scope) restore.Result {
	r.t.Helper()
	done, err := r.try(v, in)
	r.must(err)
	return done
}

func (r *rig) plan(v bands.Version, in restore.Scope) restore.Plan {
	r.t.Helper()
	present, err := capture.Scan(r.t.Context(), r.store, r.opts)
	r.must(err)
	snapshot, err := r.store.Snapshot(v)
	r.must(err)
	planned, err := restore.NewPlan(r.t.Context(), r.store, present, snapshot, in)
	r.must(errors.Join(err, present.Close()))
	return planned
}

// steps returns the plan's steps as text.
func steps(p restore.Plan) []string {
	var list []string
	for s := range p.Steps() {
		list = append(list, s.Kind.String()+" "+s.Path)
	}
	return list
}

// runAsPlanned calls do and checks that its steps are those of the preview.
func (r *rig) runAsPlanned(in restore.Scope, preview func(context.Context, *bands.Store, restore.Options) (restore.Plan, error),
	do func(context.Context, *bands.Held, restore.Options) (restore.Result, error),
) restore.Result {
	r.t.Helper()
	o := restore.Options{Options: r.opts, Scope: in}
	before, err := preview(r.t.Context(), r.store, o)
	r.must(err)
	h := r.hold()
	done, err := do(r.t.Context(), h, o)
	r.must(errors.Join(err, h.Release()))
	if diff := cmp.Diff(steps(before), steps(done.Plan)); diff != "" {
		r.t.Errorf("it was planned otherwise: %s", diff)
	}
	return done
}

// lost returns the paths of damaged files, sorted and without duplicates.
func lost(d verify.Damage) []string {
	var list []string
	for i := range d.Bad {
		for _, l := range d.Bad[i].Lost {
			list = append(list, l.Path)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
