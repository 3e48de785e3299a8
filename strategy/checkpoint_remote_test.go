package strategy_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-3aff656d/entire/strategy/rewind"
	"github.com/seed-3aff656d/entire/strategy/sharing"
)

func TestAttackCheckpointRemote(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	root := s.w.Repo.Root
	above, name := filepath.Split(root)
	for _, dir := range []string{filepath.Join(root, "docs/evil"), filepath.Join(root, "docs/named.git"), filepath.Join(above, "own.git")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(root, "docs"), filepath.Join(above, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(above, filepath.Join(root, "up")); err != nil {
		t.Fatal(err)
	}
	s.Git("remote", "add", "inside", "docs/evil")
	s.Git("remote", "add", "both", "https://h/x")
	s.Git("remote", "set-url", "--add", "--push", "both", "https://h/x")
	s.Git("remote", "set-url", "--add", "--push", "both", "docs/evil")
	const nobody, own, everybody = 0, 1, 2
	for remote, who := range map[string]int{
		"origin": everybody, "https://h/x": everybody, "ssh://git@h/x": everybody, "git@h:x": everybody,
		filepath.Join(above, "own.git"): own, "../own.git": own, "file://" + filepath.Join(above, "own.git"): own,
		"../gone": own, "up/own.git": own,
		"docs/evil": nobody, "./docs/evil": nobody, "../" + name + "/docs/evil": nobody, "docs/../docs/evil": nobody,
		filepath.Join(root, "docs/evil"): nobody, "file://" + root + "/docs/evil": nobody, "file://localhost" + root + "/docs/evil": nobody,
		"file://" + root + "/docs%2Fevil": nobody, "FILE://" + root + "/docs/evil": nobody,
		"../link/evil": nobody, "../link/named": nobody, "docs/named": nobody, "up/" + name + "/docs/evil": nobody,
		".": nobody, ".git": nobody, "inside": nobody, "both": nobody, "nowhere": nobody,
		"ext::sh -c id": nobody, "fd::7": nobody, "http://h/x": nobody, "git://h/x": nobody, "ssh://-oProxyCommand=id/x": nobody,
	} {
		for _, isOwn := range []bool{true, false} {
			s.w.Options.PushRemote, s.w.Options.OwnRemote = remote, isOwn
			_, err := rewind.CheckpointRemote(t.Context(), s.w, "main")
			refused, is := errors.AsType[*sharing.RemoteRefusedError](err)
			if want := who == nobody || who == own && !isOwn; is != want || !is && err != nil {
				t.Errorf("%s, own %v: %v", remote, isOwn, err)
			}
			if is && refused.Hint() == "" {
				t.Errorf("%s: no hint", remote)
			}
		}
	}
}
