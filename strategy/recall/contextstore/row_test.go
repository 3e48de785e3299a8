package contextstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/catalog"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
)

// catalogDamages returns ways to make the catalog useless.
func catalogDamages() map[string]func(b *bench) {
	return map[string]func(b *bench){
		"none": func(b *bench) { b.store.Catalog = nil },
		"failing": func(b *bench) {
			b.store.Catalog = func(context.Context) (*catalog.Catalog, error) { return nil, fs.ErrPermission }
		},
		"missing": func(b *bench) { fine(b, os.RemoveAll(filepath.Dir(b.catalogPath()))) },
		"damaged": func(b *bench) {
			fine(b, os.WriteFile(b.catalogPath(), []byte(strings.Repeat("no database ", 900)), 0o600))
		},
		"other tables": func(b *bench) {
			b.sql("DROP TABLE contexts; CREATE TABLE contexts (x); INSERT INTO contexts VALUES (1)")
		},
		"lost rows":  func(b *bench) { b.sql("DELETE FROM contexts WHERE summary = 'one'; DELETE FROM context_stamps") },
		"wrong rows": func(b *bench) { b.sql("UPDATE contexts SET summary = 'x', ref_oid = 'y'; DELETE FROM context_stamps") },
		"extra rows": func(b *bench) {
			b.sql("UPDATE contexts SET id = 'x' WHERE summary = 'one'; DELETE FROM context_stamps")
		},
		"no stamps": func(b *bench) { b.sql("DROP TABLE context_stamps") },
		"held":      func(b *bench) { b.hold() },
		"lost and held": func(b *bench) {
			b.sql("DELETE FROM contexts WHERE summary = 'one'; DELETE FROM context_stamps")
			b.hold()
		},
	}
}

func (b *bench) sql(text string) {
	b.Helper()
	db, err := sql.Open("sqlite", b.catalogPath())
	fine(b, err)
	_, err = db.ExecContext(b.Context(), text)
	fine(b, errors.Join(err, db.Close()))
}

// cataloged lists until the catalog has the rows and the stamp. On a slow machine a list runs out
// of time, and the next one adds the rest.
func (b *bench) cataloged(rows int) {
	b.Helper()
	db, err := sql.Open("sqlite", b.catalogPath())
	fine(b, err)
	defer func() { fine(b, db.Close()) }()
	for range 100 {
		b.lists(contextstore.Filter{}, "two", "one")
		n := 0
		err = db.QueryRowContext(b.Context(), "SELECT count(*) FROM contexts, context_stamps").Scan(&n)
		if err == nil && n == rows {
			return
		}
	}
	b.Fatalf("the catalog has no rows: %v", err)
}

// hold locks the catalog against writers until the test ends.
func (b *bench) hold() {
	b.Helper()
	db, err := sql.Open("sqlite", b.catalogPath()+"?_txlock=immediate")
	fine(b, err)
	tx, err := db.BeginTx(b.Context(), nil)
	fine(b, err)
	b.Cleanup(func() { _ = errors.Join(tx.Rollback(), db.Close()) })
}

func TestStoreWithoutCatalog(t *testing.T) {
	t.Parallel()
	for name, damage := range testkit.ShortTable(catalogDamages(), 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.put(b.checkpoint("one"))
			b.put(b.checkpoint("two"))
			b.cataloged(2)
			damage(b)
			b.lists(contextstore.Filter{}, "two", "one")
			b.lists(contextstore.Filter{Limit: 1, Worktree: b.root, Query: "jwt"}, "two")
			id := b.put(b.checkpoint("three"))
			b.lists(contextstore.Filter{}, "three", "two", "one")
			fine(t, b.store.SetStatus(t.Context(), id, recall.Kept))
			b.lists(contextstore.Filter{Status: recall.Kept}, "three")
			_, err := b.store.Prune(t.Context(), 2, 0)
			fine(t, err)
			b.lists(contextstore.Filter{}, "three", "two")
			fine(t, b.store.Discard(t.Context(), id))
			b.lists(contextstore.Filter{}, "two")
		})
	}
}

func TestRowsFollowRefs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one, two := b.put(b.checkpoint("one")), b.put(b.checkpoint("two"))
	b.lists(contextstore.Filter{}, "two", "one")
	b.Git(b.root, "pack-refs", "--all")
	b.lists(contextstore.Filter{}, "two", "one")
	b.Git(b.root, "update-ref", "-d", contextstore.Refs+one)
	b.lists(contextstore.Filter{}, "two")
	b.Git(b.root, "update-ref", contextstore.Refs+one, contextstore.Refs+two)
	b.Git(b.root, "update-ref", contextstore.Refs+"nonsense/"+one, contextstore.Refs+two)
	b.lists(contextstore.Filter{}, "two", "two")
	b.Git(b.root, "update-ref", contextstore.Refs+one, "main") // not a checkpoint's commit
	b.lists(contextstore.Filter{}, "two")
	if _, err := b.store.Get(t.Context(), one); !errors.Is(err, recall.ErrDamaged) {
		t.Errorf("it is %v", err)
	}
	damaged, err := b.store.Verify(t.Context())
	if err != nil || len(damaged) != 1 || damaged[0].ID != one || !errors.Is(damaged[0].Err, recall.ErrDamaged) {
		t.Errorf("%+v, %v", damaged, err)
	}
}

func TestUnchangedRefsReadOnlyCatalog(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(b.checkpoint("one"))
	b.lists(contextstore.Filter{}, "one") // records the stamp, as the clock is ahead
	b.sql("UPDATE contexts SET summary = 'from the row'")
	b.lists(contextstore.Filter{}, "from the row")
	before := b.store.Repo.Processes()
	b.lists(contextstore.Filter{}, "from the row")
	if n := b.store.Repo.Processes() - before; n != 0 {
		t.Errorf("it took %d processes", n)
	}
}

func TestConcurrentChangeInvalidatesRows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one := b.put(b.checkpoint("one"))
	b.lists(contextstore.Filter{}, "one")
	quiet := func() {
		t.Helper()
		before := b.store.Repo.Processes()
		b.summaries(contextstore.Filter{})
		if n := b.store.Repo.Processes() - before; n != 0 {
			t.Errorf("it took %d processes", n)
		}
	}
	two := b.put(b.checkpoint("two"))
	quiet()
	fine(t, b.store.SetStatus(t.Context(), one, recall.Kept))
	quiet()
	fine(t, b.store.Discard(t.Context(), one))
	quiet()
	by := b.store.By
	b.store.By = func(ctx context.Context) (git.Signature, error) {
		b.Git(b.root, "update-ref", "-d", contextstore.Refs+two)
		return by(ctx)
	}
	b.put(b.checkpoint("three"))
	b.lists(contextstore.Filter{}, "three")
}

func TestReftables(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if _, err := b.Try(b.Dir, "", "init", "-q", "--ref-format=reftable", "tables"); err != nil {
		t.Skip("this git has no reftables")
	}
	b.root = filepath.Join(b.Dir, "tables")
	b.write("a.go", "package a\n")
	b.Git(b.root, "add", "-A")
	b.Git(b.root, "commit", "-qm", "first")
	b.open()
	id := b.put(b.checkpoint("one"))
	b.lists(contextstore.Filter{}, "one")
	fine(t, b.store.Discard(t.Context(), id))
	b.lists(contextstore.Filter{})
}

func TestRepositoriesAreSeparate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(b.checkpoint("mine"))
	b.Git(b.Dir, "clone", "-q", "repo", "other")
	other := *b
	other.root = filepath.Join(b.Dir, "other")
	other.open()
	other.lists(contextstore.Filter{})
	other.put(other.checkpoint("theirs"))
	other.lists(contextstore.Filter{}, "theirs")
	b.lists(contextstore.Filter{}, "mine")
	fine(t, other.store.Forget(t.Context()))
	other.lists(contextstore.Filter{}, "theirs")

	// The rows of a removed repository are deleted when another one adds its stamp.
	fine(t, os.RemoveAll(other.root))
	b.sql("DELETE FROM context_stamps WHERE repository = '" + b.store.Repo.CommonDir + "'")
	b.lists(contextstore.Filter{}, "mine")
	c, err := catalog.Open(t.Context(), b.catalogPath())
	fine(t, err)
	list, err := c.ContextRepositories(t.Context())
	if err != nil || len(list) != 1 || list[0] != b.store.Repo.CommonDir {
		t.Errorf("%q, %v", list, err)
	}
	fine(t, c.Close())
}

func TestWorktreesShareTheStore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Git(b.root, "worktree", "add", "-q", "../linked")
	linked := *b
	linked.root = filepath.Join(b.Dir, "linked")
	linked.open()
	b.put(b.checkpoint("main"))
	linked.now = b.now
	linked.put(linked.checkpoint("linked"))
	b.lists(contextstore.Filter{}, "linked", "main")
	linked.lists(contextstore.Filter{Worktree: linked.root}, "linked")
	b.lists(contextstore.Filter{Worktree: b.root}, "main")
}

func TestVerifyReportsMissingObjects(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	lost, shared, whole := b.checkpoint("lost"), b.checkpoint("shared"), b.checkpoint("whole")
	f := recall.File{Path: "x", Content: "only here\n"}
	lost.State.Files["x"], shared.State.Files["x"] = f, f
	first, second := b.put(lost), b.put(shared)
	b.put(whole)
	oid := string(b.store.Repo.Format.HashBlob([]byte(f.Content)))
	fine(t, os.Remove(filepath.Join(b.store.Repo.CommonDir, "objects", oid[:2], oid[2:])))
	found, err := b.store.Verify(t.Context())
	fine(t, err)
	named := map[string]bool{}
	for _, d := range found {
		named[d.ID] = errors.Is(d.Err, recall.ErrDamaged)
	}
	if len(named) != 2 || !named[first] || !named[second] {
		t.Errorf("%+v", found)
	}
	got, err := b.store.Get(t.Context(), first)
	fine(t, err)
	if err := b.store.ReadContents(t.Context(), &got); !errors.Is(err, recall.ErrDamaged) {
		t.Errorf("it is %v", err)
	}
	if got.State.Files["x"].Omitted != recall.Unreadable || got.State.Files["a.go"].Content != "package a\n" {
		t.Errorf("%+v", got.State.Files)
	}
	// A damaged checkpoint can be discarded.
	fine(t, b.store.Discard(t.Context(), first, second))
	b.Git(b.root, "gc", "-q", "--prune=now")
}

func FuzzStored(f *testing.F) {
	b := newBench(f)
	id := b.put(b.checkpoint("seed"))
	text := b.Git(b.root, "show", contextstore.Refs+id+":checkpoint.json")
	f.Add([]byte(text))
	f.Add([]byte(`{"format":1,"state":{"files":{"a":{"blob":"x"},"b":{}}}}`))
	f.Add([]byte(`{"format":1,"created_at":"0000-00-00T"}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := contextstore.Decode(data, id, git.SHA1)
		if err != nil {
			if !errors.Is(err, recall.ErrDamaged) {
				t.Error(err)
			}
			return
		}
		if c.ID != id || strings.ContainsAny(c.Summary, "\n\r") {
			t.Errorf("%+v", c)
		}
		for path, file := range c.State.Files {
			if file.Path != path || file.Content != "" || (file.Blob == "") != (file.Omitted != "") && file.Blob == "" {
				t.Errorf("%+v", file)
			}
		}
	})
}

// many adds n checkpoints to the store without reading them.
func (b *bench) many(n int) {
	b.Helper()
	c := b.checkpoint("")
	for i := range 40 {
		path := fmt.Sprintf("pkg/dir%d/file.go", i)
		c.State.Files[path] = recall.File{Path: path, Size: 1000, Blob: b.blob(path), Outline: []recall.Declaration{{Line: 1, Text: "func A()"}}}
	}
	var script strings.Builder
	ref := contextstore.Refs + b.put(c)
	tree := b.Git(b.root, "rev-parse", ref+"^{tree}")
	for i := range n - 1 {
		by := git.Signature{Name: fmt.Sprint("Ada ", i), When: b.now}
		oid, err := b.store.Repo.WriteCommit(git.Commit{Tree: git.OID(tree), Author: by, Committer: by, Message: "m\n"})
		fine(b, err)
		fmt.Fprintf(&script, "create %s%06x-%06x %s\n", contextstore.Refs, i, i, oid)
	}
	path := filepath.Join(b.Dir, "script")
	fine(b, os.WriteFile(path, []byte(script.String()), 0o600))
	b.Git(b.root, "config", "alias.fill", "!git update-ref --stdin <"+path)
	b.Git(b.root, "fill")
}

// BenchmarkNewest lists as a session's start does, with 2,000 checkpoints.
func BenchmarkNewest(t *testing.B) {
	for name, prepare := range map[string]func(b *bench){
		"unchanged":    func(*bench) {},
		"after-put":    func(b *bench) { b.put(b.checkpoint("new")) },
		"no-catalog":   func(b *bench) { b.store.Catalog = nil },
		"lost-catalog": func(b *bench) { fine(b, os.RemoveAll(filepath.Dir(b.catalogPath()))) },
	} {
		t.Run(name, func(t *testing.B) {
			b := newBench(t)
			b.many(2000)
			b.lists(contextstore.Filter{Limit: 1}, "")
			for t.Loop() {
				t.StopTimer()
				prepare(b)
				_ = b.store.Repo.Close()
				t.StartTimer()
				list, err := b.store.List(t.Context(), contextstore.Filter{Worktree: b.root, Limit: 1})
				if err != nil || len(list) != 1 {
					t.Fatal(list, err)
				}
				if _, err := b.store.Get(t.Context(), list[0].ID); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPut(t *testing.B) {
	b := newBench(t)
	b.many(2000)
	b.lists(contextstore.Filter{Limit: 1}, "")
	c := b.checkpoint("new")
	for t.Loop() {
		if _, err := b.store.Put(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkSearch(t *testing.B) {
	b := newBench(t)
	b.many(2000)
	b.lists(contextstore.Filter{Limit: 1}, "")
	for t.Loop() {
		if _, err := b.store.List(t.Context(), contextstore.Filter{Query: "dir39 jwt nowhere"}); err != nil {
			t.Fatal(err)
		}
	}
}
