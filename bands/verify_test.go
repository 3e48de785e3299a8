//go:build linux || darwin

package bands_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/bands/verify"
)

// Versions deleted while the store is verified don't count, whether or not they are already
// being read. Records lost by other versions are reported.
func TestVerifyDuringDeletion(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("dir/shared", "shared by all")
	for i := range 600 {
		r.write(fmt.Sprintf("first/%d", i), fmt.Sprint("of the first", i, noise(100)))
	}
	first := r.take()
	for i := range 600 {
		r.remove(fmt.Sprintf("first/%d", i))
	}
	second := r.take()
	r.write("third", noise(100))
	third := r.take()
	r.spoil(first, "dir/shared", 55)
	deleted := false
	damage, err := verify.Run(t.Context(), r.store, 0, func(int64, int64) {
		if deleted {
			return
		}
		deleted = true
		r.drop(first, third)
		h := r.hold()
		_, err := retention.Compact(t.Context(), h)
		r.must(errors.Join(err, h.Release()))
	})
	if err != nil || !deleted {
		t.Fatalf("%v, deleted: %v", err, deleted)
	}
	if diff := cmp.Diff([]bands.Version{first, third}, damage.Deleted); diff != "" {
		t.Error(diff)
	}
	if len(damage.Versions) > 0 || len(damage.Bad) != 1 {
		t.Fatalf("%+v", damage)
	}
	want := []verify.LostPath{{Path: "dir/shared", Versions: []bands.Version{second}}}
	if diff := cmp.Diff(want, damage.Bad[0].Lost); diff != "" {
		t.Error(diff)
	}
	if _, err := verify.Run(t.Context(), r.store, first, nil); !errors.Is(err, bands.ErrNoSnapshot) {
		t.Errorf("of a version that isn't there: %v", err)
	}
}

// A version that is deleted while only it is verified is reported as deleted, not as damaged.
func TestVerifyOfDeletedVersion(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i := range 600 {
		r.write(fmt.Sprintf("first/%d", i), fmt.Sprint("of the first", i, noise(100)))
	}
	first := r.take()
	r.remove("first/0")
	r.take()
	deleted := false
	damage, err := verify.Run(t.Context(), r.store, first, func(int64, int64) {
		if deleted {
			return
		}
		deleted = true
		r.drop(first)
		h := r.hold()
		_, err := retention.Compact(t.Context(), h)
		r.must(errors.Join(err, h.Release()))
	})
	gone, ok := errors.AsType[*verify.DeletedError](err)
	if !deleted || !ok || gone.Version != first || !errors.Is(err, bands.ErrNoSnapshot) || len(damage.Bad) > 0 {
		t.Errorf("deleted: %v, error %v, %+v", deleted, err, damage)
	}
	if err != nil && err.Error() != first.String()+" was deleted meanwhile" {
		t.Errorf("error %q", err)
	}
}
