//go:build faults

package contextstore_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/git/gittest"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
)

// storeOperations returns the operations that are killed at every write and then repeated, in a store
// with one checkpoint.
func storeOperations() map[string]func(b *bench, id string) error {
	return map[string]func(b *bench, id string) error{
		"capture": func(b *bench, _ string) error {
			files := contextstore.Capture{
				Repo: b.store.Repo, Redact: redact.New(), Base: b.Git(b.root, "rev-parse", "HEAD"),
				Limits: contextstore.CaptureLimits{File: 1 << 20, Total: 10 << 20, Contents: true},
			}
			_, err := files.Files(b.Context(), []string{"a.go", "new.go"}, nil)
			return err
		},
		"put": func(b *bench, _ string) error {
			c := b.checkpoint("new")
			c.State.Files["new.go"] = recall.File{Content: "package n\n"}
			_, err := b.store.Put(b.Context(), c)
			return err
		},
		"replace": func(b *bench, id string) error {
			c, err := b.store.Get(b.Context(), id)
			if err == nil {
				c.Summary = "better"
				_, err = b.store.Put(b.Context(), c)
			}
			return err
		},
		"status":  func(b *bench, id string) error { return b.store.SetStatus(b.Context(), id, recall.Kept) },
		"discard": func(b *bench, id string) error { return b.store.Discard(b.Context(), id) },
		"prune": func(b *bench, _ string) error {
			b.now = b.now.Add(time.Hour)
			_, err := b.store.Prune(b.Context(), 1, time.Minute)
			return err
		},
	}
}

// TestStoreChild is the process that TestCrashStore kills.
func TestStoreChild(t *testing.T) {
	do := storeOperations()[os.Getenv("STORE_DOING")]
	if do == nil {
		t.Skip("there is nothing to do")
	}
	b := benchIn(gittest.In(t, os.Getenv("STORE_DIR")))
	b.open()
	fine(t, do(b, os.Getenv("STORE_ID")))
}

func TestCrashStore(t *testing.T) {
	t.Parallel()
	for name, do := range storeOperations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 1
			for storeKilled(t, name, do, n) {
				n++
			}
			if n < 2 {
				t.Errorf("there were %d writes", n-1)
			}
		})
	}
}

// storeKilled runs the operation in a process that is killed at its nth write, and then again. It
// returns false if there are fewer writes.
func storeKilled(t *testing.T, name string, do func(b *bench, id string) error, n int) bool {
	t.Helper()
	b := newBench(t)
	b.write("new.go", "package n\n")
	id := b.put(b.checkpoint("old"))
	b.lists(contextstore.Filter{}, "old")
	mark := filepath.Join(b.Dir, "mark")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStoreChild$")
	child.Env = append(os.Environ(), "STORE_DOING="+name, "STORE_DIR="+b.Dir, "STORE_ID="+id,
		"ENTIRE_FAULT=crash:"+strconv.Itoa(n), "ENTIRE_FAULT_MARK="+mark)
	out, failed := child.CombinedOutput()
	if _, err := os.Stat(mark); err != nil {
		if failed != nil {
			t.Fatalf("undisturbed: %v: %s", failed, out)
		}
		return false
	}
	b.open()
	b.checkStore()
	if err := do(b, id); err != nil && !errors.Is(err, recall.ErrNotFound) {
		t.Errorf("at %d, again: %v", n, err)
	}
	b.checkStore()
	return true
}

// checkStore checks that the list matches the stored checkpoints and that all are readable.
func (b *bench) checkStore() {
	b.Helper()
	list, err := b.store.List(b.Context(), contextstore.Filter{})
	fine(b, err)
	without := b.store
	without.Catalog = nil
	plain, err := without.List(b.Context(), contextstore.Filter{})
	fine(b, err)
	var listed, there []string
	for _, e := range list {
		listed = append(listed, e.ID+" "+e.Summary+" "+string(e.Status))
		c, err := b.store.Get(b.Context(), e.ID)
		fine(b, err)
		fine(b, b.store.ReadContents(b.Context(), &c))
	}
	for _, e := range plain {
		there = append(there, e.ID+" "+e.Summary+" "+string(e.Status))
	}
	if strings.Join(listed, "\n") != strings.Join(there, "\n") {
		b.Errorf("listed are %q, there are %q", listed, there)
	}
	damaged, err := b.store.Verify(b.Context())
	if err != nil || len(damaged) > 0 {
		b.Errorf("%+v, %v", damaged, err)
	}
	b.Git(b.root, "fsck", "--connectivity-only")
	b.Git(b.root, "gc", "-q", "--prune=now")
}
