//go:build linux || darwin

package bands_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/bands/verify"
)

// textRequest returns a request to forget the text.
func textRequest(text string) retention.EraseRequest {
	return retention.EraseRequest{
		Content: func(data []byte) bool { return bytes.Contains(data, []byte(text)) },
		Overlap: len(text) - 1,
		Name:    func(name string) string { return strings.ReplaceAll(name, text, "REDACTED") },
	}
}

func (r *rig) forget(what retention.EraseRequest) {
	r.t.Helper()
	h := r.hold()
	err := retention.Erase(r.t.Context(), h, what)
	r.must(errors.Join(err, h.Release()))
	found, damage, err := retention.FindForgotten(r.t.Context(), r.store, what)
	r.must(errors.Join(damage, err))
	if len(found) > 0 {
		r.t.Errorf("still there: %+v", found)
	}
	left, err := verify.Run(r.t.Context(), r.store, 0, nil)
	r.must(err)
	if !left.OK() {
		r.t.Errorf("damaged: %+v", left)
	}
}

// lacks fails the test if a file of the store contains the text.
func (r *rig) lacks(text string) {
	r.t.Helper()
	r.must(filepath.WalkDir(r.store.Dir(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			r.t.Errorf("%s has %q", path, text)
		}
		return err
	}))
}

// entryAt returns the entry of a path in a version.
func (r *rig) entryAt(v bands.Version, path string) band.Entry {
	r.t.Helper()
	snap, err := r.store.Snapshot(v)
	r.must(err)
	records, reader := r.store.Loader(snap)
	root, _ := snap.Tree.Ref()
	e, err := band.LookupPath(records, root, path)
	r.must(errors.Join(err, reader.Close()))
	return e
}

// TestForgetText removes a text from small files, a large file in which it spans two parts,
// databases, names, link targets and former versions. The rest of each snapshot is unchanged.
func TestForgetText(t *testing.T) {
	t.Parallel()
	const text = "walrus-4711"
	r := rigWithFiles(t)
	large := make([]byte, 9<<20)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range large {
		large[i] = byte(random.Uint32())
	}
	copy(large[5<<20-4:], text)
	r.write("large", string(large))
	r.write("dir/secret", "the key is "+text)
	r.write("dir/data.db", "a database")
	r.write("dir/data.db-wal", "a log with "+text)
	r.write("dir/"+text+".txt", "only its name")
	r.must(os.Symlink("to-"+text, r.path("dir/pointer")))
	for i := range 700 {
		r.write("many/"+string(rune('a'+i%26))+strings.Repeat("x", i/26), "content "+strings.Repeat("y", i))
	}
	r.write("many/zz", "in a page: "+text)
	first := r.auto().Snapshot.Version
	r.write("dir/secret", "nothing now")
	r.write("one", "changed")
	second := r.auto().Snapshot.Version
	r.forget(textRequest(text))
	r.lacks(text)
	for _, path := range []string{"large", "dir/secret", "dir/data.db", "dir/data.db-wal", "dir/REDACTED.txt", "dir/pointer", "many/zz"} {
		if e := r.entryAt(first, path); e.Kind != band.Unknown || e.Reason != band.Forgotten {
			t.Errorf("%s is %+v", path, e)
		}
	}
	if e := r.entryAt(second, "dir/secret"); e.Kind != band.File {
		t.Errorf("the later dir/secret is %+v", e)
	}
	r.must(errors.Join(os.RemoveAll(r.path("large")), os.RemoveAll(r.path("dir/"+text+".txt")), os.RemoveAll(r.path("dir/pointer")),
		os.RemoveAll(r.path("dir/data.db")), os.RemoveAll(r.path("dir/data.db-wal")), os.RemoveAll(r.path("many/zz"))))
	third := r.takeAndCheck().Snapshot.Version
	if third <= second {
		t.Errorf("%s came again", third)
	}
}

// TestForgetPath removes one path from all snapshots, and keeps another with the same content.
func TestForgetPath(t *testing.T) {
	t.Parallel()
	r := rigWithFiles(t)
	r.write("dir/secret", "walrus in one")
	first := r.auto().Snapshot.Version
	r.write("dir/secret", "pelican in two")
	r.write("copy", "pelican in two")
	second := r.auto().Snapshot.Version
	what := retention.EraseRequest{Path: func(path string) bool { return path == "dir/secret" }}
	found, damage, err := retention.FindForgotten(t.Context(), r.store, what)
	r.must(errors.Join(damage, err))
	if len(found) != 1 || found[0].Path != "dir/secret" || !slices.Equal(found[0].Versions, []bands.Version{first, second}) {
		t.Errorf("found %+v", found)
	}
	r.forget(what)
	r.lacks("walrus in one")
	for _, v := range []bands.Version{first, second} {
		if e := r.entryAt(v, "dir/secret"); e.Reason != band.Forgotten {
			t.Errorf("%s: %+v", v, e)
		}
	}
	if e := r.entryAt(second, "copy"); e.Kind != band.File {
		t.Errorf("copy is %+v", e)
	}
	h := r.hold()
	_, err = restore.Run(t.Context(), h, first, restore.Options{Options: r.opts})
	r.must(errors.Join(err, h.Release()))
	if data, err := os.ReadFile(r.path("dir/secret")); err != nil || string(data) != "pelican in two" {
		t.Errorf("after a restore dir/secret is %q, %v", data, err)
	}
}
