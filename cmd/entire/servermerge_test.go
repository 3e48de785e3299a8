package main

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/internal/testkit/servermerge"
)

// TestServerMerges plays pull requests of sessions that a server without hooks merges, and compares
// the authors of the lines of main with the known ones. ENTIRE_TEST_HISTORIES sets the number of
// histories of each kind, ENTIRE_TEST_SEED the first seed. ENTIRE_TEST_TABLE=FILE writes the figures
// into a section of that page.
func TestServerMerges(t *testing.T) { //nolint:tparallel // the histories within are parallel
	testkit.Long(t, "plays histories with hooks")
	t.Parallel()
	number := func(name string, otherwise uint64) uint64 {
		if n, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
			return n
		}
		return otherwise
	}
	histories, seed := number("ENTIRE_TEST_HISTORIES", 1), number("ENTIRE_TEST_SEED", 1)
	kinds := servermerge.Kinds()
	results := make([]servermerge.Result, len(kinds))
	var mu sync.Mutex // guards results
	t.Run("kind", func(t *testing.T) {
		for i, kind := range kinds {
			results[i].Kind = kind
			for n := range histories {
				t.Run(kind.Name+"/"+strconv.FormatUint(seed+n, 10), func(t *testing.T) {
					t.Parallel()
					repo := matrixRepo(t)
					repo.InProcess = inProcess
					one := servermerge.Play(repo, kind, seed+n)
					if len(one.Failures) > 0 {
						t.Logf("%s\n%s", strings.Join(one.Failures, "\n"), strings.Join(one.Log, "\n"))
					}
					mu.Lock()
					defer mu.Unlock()
					results[i].Count = results[i].Add(one.Count)
				})
			}
		}
	})
	for i := range results {
		r := &results[i]
		if r.Lines == 0 {
			continue // not selected
		}
		t.Logf("%s: %+v", r.Kind.Name, r.Count)
		for _, missed := range r.Missed() {
			t.Errorf("%s: %s", r.Kind.Name, missed)
		}
	}
	if path := os.Getenv("ENTIRE_TEST_TABLE"); path != "" {
		writeSection(t, path, servermerge.Heading, servermerge.Markdown(results, histories, seed))
	}
}
