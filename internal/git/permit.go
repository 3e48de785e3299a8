package git

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// permitTimeout bounds the time that git has to accept or refuse a repository.
const permitTimeout = 5 * time.Second

// RefusedError reports a repository that git refuses to work in: it belongs to another user
// (safe.directory), or is a bare repository among the files of another one (safe.bareRepository).
// It is not an ErrNotRepository: the search does not go on above it.
type RefusedError struct {
	Dir    string
	Reason string // a line of git's stderr
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("git refuses the repository %s: %s", e.Dir, e.Reason)
}

// Hint names the command that explains how to trust the repository.
func (e *RefusedError) Hint() string {
	return "`git status` in " + e.Dir + " says how git can be told to trust it"
}

// permit asks git whether it works in a repository that was found without git, if git might refuse
// it. Reading its files directly, or naming it in GIT_DIR, would bypass git's own checks. It
// returns the number of processes started.
func (l Locate) permit(f found) (processes int64, err error) {
	if f.explicit {
		return 0, nil
	}
	// Git might refuse a repository without a .git of its own, or one of whose checked files
	// belongs to another user.
	if f.base != "" && !isTrue(l.getenv("GIT_TEST_ASSUME_DIFFERENT_OWNER")) &&
		ownedByUser(f.base) && ownedByUser(f.gitDir) && ownedByUser(filepath.Join(f.base, ".git")) {
		return 0, nil
	}
	dir := f.base
	if dir == "" {
		dir = f.gitDir
	}
	cmd := exec.Command("git", "rev-parse", "--absolute-git-dir") //nolint:noctx // discovery has no context; a timer ends it
	stdout, stderr := &capture{}, &capture{}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, append(l.inherited(), "LC_ALL=C"), stdout, stderr, waitDelay
	if err = cmd.Start(); err == nil {
		timer := time.AfterFunc(permitTimeout, func() { _ = cmd.Process.Kill() }) // Wait returns its end
		err = cmd.Wait()
		timer.Stop()
	}
	if err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		if line == "" {
			line = err.Error()
		}
		return 1, &RefusedError{Dir: dir, Reason: TrimStderrPrefix(line)}
	}
	is, err := filepath.EvalSymlinks(strings.TrimSuffix(stdout.String(), "\n"))
	if err != nil || is != f.gitDir {
		return 1, &RefusedError{Dir: dir, Reason: "it finds another one from there"}
	}
	return 1, nil
}

// ownedByUser reports whether the file, or the link itself, belongs to the user of this process.
func ownedByUser(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(s.Uid) == os.Geteuid()
}
