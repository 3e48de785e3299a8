package checkpoint_test

import (
	"os"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

func newPlainFixture(tb testing.TB) *fixture {
	tb.Helper()
	dir := tb.TempDir()
	repo, _ := testkit.NewRepo(tb, dir, "plain", testkit.CleanEnv(dir, dir, os.Getenv("PATH")))
	return &fixture{Repo: repo, git: open(tb, repo)}
}
