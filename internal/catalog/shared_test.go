package catalog_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/catalog"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestMain is also the program of the writer processes: it adds snapshots to the catalog named by
// the environment.
func TestMain(m *testing.M) {
	if path := os.Getenv("CATALOG_WRITER"); path != "" {
		os.Exit(writer(path, os.Getenv("CATALOG_STORE")))
	}
	os.Exit(testkit.InMemory(m).Run())
}

func writer(path, store string) int {
	for v := 1; v <= 150; v++ {
		c, err := catalog.Open(context.Background(), path)
		if err == nil {
			row := catalog.Checkpoint{Version: v, Kind: "auto", Created: at(0), Pairs: []catalog.Pair{{Checkpoint: "c" + strconv.Itoa(v)}}}
			err = errors.Join(c.AddCheckpoints(context.Background(), store, row), c.Close())
		}
		if err != nil {
			_, _ = io.WriteString(os.Stderr, err.Error()+"\n")
			return 1
		}
		_, _ = io.WriteString(os.Stdout, strconv.Itoa(v)+"\n")
	}
	return 0
}

func command(t *testing.T, path, store string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = []string{"CATALOG_WRITER=" + path, "CATALOG_STORE=" + store}
	return cmd
}

func TestConcurrentWriters(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	c := open(t, path)
	names := []string{"one", "two", "three"}
	var all sync.WaitGroup
	for _, name := range names {
		must(t, c.AddStore(t.Context(), catalog.Store{ID: name, Name: name, Created: at(0)}))
		all.Go(func() {
			if out, err := command(t, path, name).CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", name, err, out)
			}
		})
	}
	all.Go(func() {
		for range 50 { // a concurrent reader sees whole transactions
			list, err := c.Checkpoints(t.Context(), "one", 1)
			if err != nil || len(list) == 1 && len(list[0].Pairs) != 1 {
				t.Errorf("reading: %v, %v", list, err)
			}
		}
	})
	all.Wait()
	for _, name := range names {
		s, err := c.StoreByName(t.Context(), name)
		if err != nil || s.Checkpoints != 150 || s.Last != 150 {
			t.Errorf("%+v, %v", s, err)
		}
	}
	must(t, c.Check(t.Context()))
}

func TestConcurrentCreation(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "made", "db")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			c, err := catalog.Open(t.Context(), path)
			if err != nil {
				t.Error(err)
				return
			}
			id := strconv.Itoa(i)
			if err := errors.Join(c.AddStore(t.Context(), catalog.Store{ID: id, Name: id}), c.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	stores, err := open(t, path).Stores(t.Context())
	if err != nil || len(stores) != 8 {
		t.Errorf("%v, %v", stores, err)
	}
}

func TestKilledWriter(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	c := open(t, path)
	must(t, c.AddStore(t.Context(), app()))
	for kill := 3; kill < 60; kill += 8 {
		cmd := command(t, path, "a1")
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for range kill {
			lines.Scan()
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		list, err := c.Checkpoints(t.Context(), "a1", 0)
		must(t, err)
		if len(list) < kill {
			t.Errorf("%d rows of %d that were written", len(list), kill)
		}
		must(t, c.AddCheckpoints(t.Context(), "a1", full(1000+kill)))
	}
	must(t, c.Check(t.Context()))
}

func TestBusyDatabaseWaitEndsWithContext(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	c := open(t, path)
	must(t, c.AddStore(t.Context(), app()))
	holder, err := sql.Open("sqlite", path+"?_txlock=immediate")
	must(t, err)
	defer func() { _ = holder.Close() }()
	tx, err := holder.BeginTx(t.Context(), nil)
	must(t, err)
	soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	// The holder doesn't end. If the write didn't stop with its context, it would never return.
	if err := c.AddCheckpoints(soon, "a1", full(1)); !errors.Is(err, catalog.ErrBusy) {
		t.Errorf("writing: %v", err)
	}
	if _, err := c.Checkpoints(t.Context(), "a1", 0); err != nil {
		t.Errorf("readers don't wait for a writer: %v", err)
	}
	must(t, tx.Rollback())
	must(t, c.AddCheckpoints(t.Context(), "a1", full(1)))
}
