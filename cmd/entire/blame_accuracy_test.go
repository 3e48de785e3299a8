package main

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/internal/testkit/blameaccuracy"
)

// TestBlameAccuracy compares the recorded author of each line of a few histories with the known
// one: none is wrong, and few are in a history that is disturbed. ENTIRE_TEST_HISTORIES sets the
// number of histories, ENTIRE_TEST_SEED the first seed: these are disturbed, and must reach the
// goals. ENTIRE_TEST_TABLE=FILE writes the page with the figures.
func TestBlameAccuracy(t *testing.T) { //nolint:tparallel // the histories within are parallel
	testkit.Long(t, "plays histories with hooks")
	t.Parallel()
	number := func(name string, otherwise uint64) uint64 {
		if n, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
			return n
		}
		return otherwise
	}
	const few, first = 2, 6
	histories, seed := number("ENTIRE_TEST_HISTORIES", few), number("ENTIRE_TEST_SEED", first)
	isWhole := os.Getenv("ENTIRE_TEST_HISTORIES") != ""
	var mu sync.Mutex // guards all
	var all blameaccuracy.Result
	t.Run("history", func(t *testing.T) {
		for i := range histories {
			t.Run(strconv.FormatUint(seed+i, 10), func(t *testing.T) {
				t.Parallel()
				one := blameaccuracy.Play(matrixRepo(t), seed+i, isWhole)
				t.Logf("%+v", one.Total())
				for _, f := range one.Failures {
					t.Log(f)
				}
				if one.Total().Wrong > 0 {
					t.Logf("%d lines are wrong\n%s", one.Total().Wrong, strings.Join(one.Log, "\n"))
				}
				mu.Lock()
				defer mu.Unlock()
				all.Add(one)
			})
		}
		if !isWhole {
			t.Run("disturbed", func(t *testing.T) {
				t.Parallel()
				one := blameaccuracy.Play(matrixRepo(t), seed, true)
				const most = 0.05 // what few lines can show; the goals need many histories
				if n := one.Total(); float64(n.Wrong) > most*float64(n.All()) {
					t.Errorf("%+v %+v", n, one.Failures)
				}
			})
		}
	})
	t.Logf("%d histories: one session at a time %+v, at once %+v", histories, all.Alone, all.Together)
	missed := all.Missed()
	if histories <= few && all.Total().Wrong == 0 { // the other goals need more lines
		missed = nil
	}
	for _, m := range missed {
		t.Error(m)
	}
	if path := os.Getenv("ENTIRE_TEST_TABLE"); path != "" && all.Total().All() > 0 {
		if err := os.WriteFile(path, []byte(all.Markdown(histories, seed)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
