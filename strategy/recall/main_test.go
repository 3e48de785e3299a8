package recall_test

import (
	"os"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.InMemory(m).Run()) }
