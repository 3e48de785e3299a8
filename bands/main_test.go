package bands_test

import (
	"flag"
	"os"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() && os.Getenv("RAPID_CHECKS") == "" {
		_ = flag.Set("rapid.checks", "10")
	}
	os.Exit(testkit.InMemory(m).Run())
}
