package rewind

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-3aff656d/entire/bands/plan"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/rewindstate"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// What somebody saves between the check of a file and its replacement or removal
// stays, and nothing is left beside it.
func TestCodeRewindKeepsWhatIsSavedMeanwhile(t *testing.T) { //nolint:paralleltest // it sets a hook of the package
	root, gitDir := t.TempDir(), t.TempDir()
	r := New(&workspace.Workspace{Repo: &git.Repo{Root: root, GitDir: gitDir}}).CodeRewinder.code
	in := func(name string) string { return filepath.Join(root, name) }
	write := func(path, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	file := rewindstate.CodeFile{Mode: git.ModeFile, OID: "1"}
	var steps []CodeStep
	for _, name := range []string{"sub/rewritten", "renamed", "plain", "deleted", "deleted-too", "gone", "created", "new"} {
		s := CodeStep{Path: name, Kind: plan.StepRewrite, before: file, after: file}
		switch name {
		case "deleted", "deleted-too", "gone":
			s.after = rewindstate.CodeFile{}
		case "created", "new":
			s.before = rewindstate.CodeFile{}
		}
		if s.before.Mode != 0 {
			write(in(name), "two")
		}
		if s.after.Mode != 0 {
			write(filepath.Join(r.stagePath(), "files", name), "one")
		}
		s.was = r.statBelow(name)
		steps = append(steps, s)
	}
	defer func(before func(string)) { beforeCodeReplace = before }(beforeCodeReplace)
	beforeCodeReplace = func(name string) {
		switch name {
		case "sub/rewritten", "deleted", "created":
			write(in(name), "saved")
		case "renamed", "deleted-too":
			write(in("temp"), "saved")
			if err := os.Rename(in("temp"), in(name)); err != nil {
				t.Error(err)
			}
		}
	}
	failed, err := r.applyCode(t.Context(), steps)
	if err != nil || len(failed) != 5 {
		t.Errorf("%v, failed: %v", err, failed)
	}
	for name, want := range map[string]string{
		"sub/rewritten": "saved", "renamed": "saved", "deleted": "saved", "deleted-too": "saved", "created": "saved", "plain": "one", "new": "one",
	} {
		if got, err := os.ReadFile(in(name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := os.Lstat(in("gone")); err == nil {
		t.Error("not removed")
	}
	for _, dir := range []string{root, in("sub")} {
		if left, _ := filepath.Glob(filepath.Join(dir, ".entire-tmp-*")); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	}
}

// A rewind that was killed between the exchange of two files and the look at what was
// there has what was saved under another name: it gets its place again.
func TestCodeRewindRecoversWhatWasSaved(t *testing.T) {
	t.Parallel()
	before, after := rewindstate.CodeFile{Mode: git.ModeFile, OID: "1"}, rewindstate.CodeFile{Mode: git.ModeFile, OID: "2"}
	for _, c := range []struct {
		name                   string
		before, after          rewindstate.CodeFile
		now, temp              rewindstate.CodeFile
		content, tempIs, wants string
	}{
		{"saved before the exchange", before, after, after, rewindstate.CodeFile{Mode: git.ModeFile, OID: "3"}, "new", "saved", "saved"},
		{"exchanged", before, after, after, before, "new", "old", "new"},
		{"in part", before, after, before, rewindstate.CodeFile{Mode: git.ModeFile, OID: "3"}, "old", "n", "old"},
		{"saved before the removal", before, rewindstate.CodeFile{}, rewindstate.CodeFile{}, rewindstate.CodeFile{Mode: git.ModeFile, OID: "3"}, "", "saved", "saved"},
		{"removed", before, rewindstate.CodeFile{}, rewindstate.CodeFile{}, before, "", "old", ""},
		{"in part, of a new one", rewindstate.CodeFile{}, after, rewindstate.CodeFile{}, rewindstate.CodeFile{Mode: git.ModeFile, OID: "3"}, "", "n", ""},
	} {
		r := New(&workspace.Workspace{Repo: &git.Repo{Root: t.TempDir()}}).CodeRewinder.code
		for name, text := range map[string]string{"a.txt": c.content, codeTemp("a.txt"): c.tempIs} {
			if text != "" {
				if err := os.WriteFile(filepath.Join(r.Repo.Root, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		err := r.recoverTemp(rewindstate.CodeChange{Path: "a.txt", Before: c.before, After: c.after}, codePresent{file: c.now}, codePresent{file: c.temp})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got, _ := os.ReadFile(filepath.Join(r.Repo.Root, "a.txt")); string(got) != c.wants {
			t.Errorf("%s: %q", c.name, got)
		}
		if _, err := os.Lstat(filepath.Join(r.Repo.Root, codeTemp("a.txt"))); err == nil {
			t.Errorf("%s: the temporary file is left", c.name)
		}
	}
}
