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

// TestBlameAccuracy holds who wrote each line of a few histories with known authors: at least
// 99 % are right, the rest is named as unknown, none is wrong. ENTIRE_TEST_HISTORIES sets how
// many, ENTIRE_TEST_SEED the first seed; with ENTIRE_TEST_TABLE=FILE the figures are written there.
func TestBlameAccuracy(t *testing.T) {
	testkit.Long(t, "plays histories with hooks")
	t.Parallel()
	number := func(name string, otherwise uint64) uint64 {
		if n, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
			return n
		}
		return otherwise
	}
	histories, seed := number("ENTIRE_TEST_HISTORIES", 3), number("ENTIRE_TEST_SEED", 1)
	var mu sync.Mutex // guards all
	all := blameaccuracy.Result{ByKind: map[blameaccuracy.Kind]blameaccuracy.Count{}}
	t.Run("histories", func(t *testing.T) {
		for i := range histories {
			t.Run(strconv.FormatUint(seed+i, 10), func(t *testing.T) {
				t.Parallel()
				one := blameaccuracy.Play(matrixRepo(t), seed+i)
				mu.Lock()
				defer mu.Unlock()
				all.Add(one)
				for _, f := range one.Failures {
					t.Log(f)
				}
				if len(one.Failures) > 0 && testing.Verbose() {
					t.Log(strings.Join(one.Log, "\n"))
				}
			})
		}
	})
	t.Log(all.Total)
	for k, c := range all.ByKind {
		t.Log(k, c)
	}
}
