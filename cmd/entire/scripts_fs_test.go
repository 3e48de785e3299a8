//go:build fs

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestFSScript runs the scripts in testdata/fs, each on a new file system of the kind that
// its name begins with.
func TestFSScript(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "fs", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		kind, _, _ := strings.Cut(name, "-")
		t.Run(name, func(t *testing.T) {
			const sizeMB = 1000
			testscript.Run(t, testscript.Params{
				Files: []string{file}, WorkdirRoot: testkit.Mount(t, kind, sizeMB), Setup: setup, Cmds: commands(), Condition: condition,
			})
		})
	}
}
