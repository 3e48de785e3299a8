//go:build fs

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestFSScript runs the scripts in testdata/fs, each on a new file system of the kind given by
// the beginning of its name. $HDIUTIL is the folder of the stand-in for hdiutil.
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
			hdiutil := testkit.Hdiutil(t)
			testscript.Run(t, testscript.Params{
				Files: []string{file}, WorkdirRoot: testkit.Mount(t, kind, sizeMB), Cmds: commands(), Condition: condition,
				Setup: func(env *testscript.Env) error {
					err := setup(env)
					env.Setenv("HDIUTIL", hdiutil)
					env.Setenv("PATH", env.Getenv("PATH")+string(filepath.ListSeparator)+hdiutil)
					return err
				},
			})
		})
	}
}
