package githook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// MayHaveChanged reports whether the hooks or their configuration may have changed since Mend found them
// in place. It reads only the metadata of some files. configs are the files of git's global
// configuration. Changes that it can't detect (in included files and in the system's configuration)
// are left to Mend.
func (i Installer) MayHaveChanged(configs ...string) bool {
	text, err := disk.ReadFile(i.seenPath())
	return err != nil || string(text) != i.fingerprint(configs)
}

// Mend is like Install, and records the state for Touched if nothing had to be changed.
func (i Installer) Mend(ctx context.Context, configs ...string) (Report, error) {
	before := i.fingerprint(configs)
	r, err := i.Install(ctx)
	if err != nil || r.Changed { // later changes are detected next time
		return r, err
	}
	return r, disk.WriteCache(i.seenPath(), []byte(before), 0o600)
}

// WasTried reports whether hooks were ever installed in the repository, successfully or not.
func (i Installer) WasTried() bool {
	_, err := os.Lstat(i.lockPath())
	return err == nil
}

// seenPath returns the file with the last intact state's fingerprint, for this worktree.
func (i Installer) seenPath() string {
	name := seenName
	if i.Repo.WorktreeID != "" {
		name += "-" + i.Repo.WorktreeID
	}
	return filepath.Join(i.Repo.CommonDir, "entire", name)
}

const seenName = "hooks-seen"

// forgetSeen removes the fingerprints of all worktrees.
func (i Installer) forgetSeen() error {
	paths := disk.Glob(filepath.Join(i.Repo.CommonDir, "entire"), seenName+"*")
	failed := make([]error, 0, len(paths))
	for _, path := range paths {
		failed = append(failed, disk.Remove(path))
	}
	return errors.Join(failed...)
}

// fingerprint returns a digest of the state of our hooks' files and of the configuration that names
// their folders.
func (i Installer) fingerprint(configs []string) string {
	common := i.Repo.CommonDir
	own, redirect := filepath.Join(common, "hooks"), filepath.Join(common, "entire", "hooks")
	paths := slices.Concat(configs, []string{
		filepath.Join(common, "config"), filepath.Join(i.Repo.GitDir, "config.worktree"), own, redirect,
	})
	for _, name := range recordedHooks() {
		paths = append(paths, filepath.Join(own, name))
	}
	if _, err := os.Lstat(redirect); err == nil {
		for _, name := range slices.Concat(recordedHooks(), clientHooks()) {
			paths = append(paths, filepath.Join(redirect, name))
		}
	}
	sum := sha256.New()
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			_, _ = fmt.Fprintf(sum, "%q -\n", path)
			continue
		}
		_, _ = fmt.Fprintf(sum, "%q %s %o %d %d %d\n", path, disk.Inode(info), info.Mode(), info.Size(),
			info.ModTime().UnixNano(), disk.Changed(info).UnixNano())
	}
	return hex.EncodeToString(sum.Sum(nil))
}
