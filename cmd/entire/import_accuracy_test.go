package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/internal/testkit/importaccuracy"
)

// TestImportAccuracy plays histories of sessions that nothing recorded, imports the sessions, and
// compares the lines and commits with the known ones. ENTIRE_TEST_HISTORIES sets the number of
// histories of each kind, ENTIRE_TEST_SEED the first seed.
func TestImportAccuracy(t *testing.T) { //nolint:tparallel // the histories within are parallel
	testkit.Long(t, "plays histories")
	t.Parallel()
	number := func(name string, otherwise uint64) uint64 {
		if n, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
			return n
		}
		return otherwise
	}
	histories, seed := number("ENTIRE_TEST_HISTORIES", 1), number("ENTIRE_TEST_SEED", 1)
	importRepo(t)
	kinds := importaccuracy.Kinds()
	results := make([]importaccuracy.Result, len(kinds))
	var mu sync.Mutex // guards results
	t.Run("kind", func(t *testing.T) {
		for i, kind := range kinds {
			results[i].Name = kind.Name
			for n := range histories {
				t.Run(kind.Name+"/"+strconv.FormatUint(seed+n, 10), func(t *testing.T) {
					t.Parallel()
					repo := importRepo(t)
					repo.InProcess = inProcess
					one := importaccuracy.Play(repo, kind, seed+n)
					if len(one.Mistakes) > 0 {
						t.Logf("%s\n%s", one.Sample(samples), strings.Join(one.Log, "\n"))
					}
					mu.Lock()
					defer mu.Unlock()
					results[i] = importaccuracy.Merge([]importaccuracy.Result{results[i], one})[0]
				})
			}
		}
	})
	t.Log("\n" + importaccuracy.Table(results))
	var all importaccuracy.Count
	for i := range results {
		t.Logf("%s:\n%s", results[i].Name, results[i].Sample(samples))
		all = all.Add(results[i].Count)
	}
	for _, missed := range all.Missed() {
		t.Error(missed)
	}
}

// TestImportAccuracyOfRecords hides the record of repositories that other programs recorded, imports
// their sessions, and compares the lines and commits with the record. ENTIRE_RECORDS names a folder
// of tar files with bare repositories.
func TestImportAccuracyOfRecords(t *testing.T) {
	folder := os.Getenv("ENTIRE_RECORDS")
	if folder == "" {
		t.Skip("ENTIRE_RECORDS names no folder of records")
	}
	archives, err := filepath.Glob(filepath.Join(folder, "*.tar"))
	if err != nil || len(archives) == 0 {
		t.Skipf("no archives in %s", folder)
	}
	var results []importaccuracy.Result
	for _, archive := range archives {
		repo := importRepo(t)
		result := importaccuracy.Record(t, archive, filepath.Dir(repo.Dir), repo.Env)
		results = append(results, result)
		t.Log("\n" + result.Sample(samples))
		for _, missed := range result.Missed() {
			t.Errorf("%s: %s", result.Name, missed)
		}
	}
	t.Log("\n" + importaccuracy.Table(results))
}

// samples is the number of mistakes of a kind that are printed.
const samples = 25

// importRepo makes a repository in which the program isn't enabled.
func importRepo(t *testing.T) *testkit.Repo {
	t.Helper()
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	repo, _ := testkit.NewRepo(t, filepath.Join(dir, "w"), "plain", testkit.CleanEnv(home, t.TempDir(), os.Getenv("PATH")))
	if !importaccuracy.IsSupported(repo) {
		t.Skip("this version doesn't import")
	}
	return repo
}
