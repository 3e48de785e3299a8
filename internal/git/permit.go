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

// permitTimeout bounds how long git may take to accept or refuse a repository.
const permitTimeout = 5 * time.Second

// RefusedError is a repository that git refuses to work in: it belongs to another
// user (safe.directory), or lies as a bare repository in another one's files
// (safe.bareRepository). It is no ErrNotRepository: a repository above isn't meant.
type RefusedError struct {
	Dir    string
	Reason string // a line of git's
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("git refuses the repository %s: %s", e.Dir, e.Reason)
}

// Hint names who decides.
func (e *RefusedError) Hint() string {
	return "`git status` in " + e.Dir + " says how git can be told to trust it"
}

// permit asks git whether it works in a repository that was found without it, where
// git might not. Reading its files ourselves, or naming it in GIT_DIR, would pass by
// git's own checks. It counts the process, if it took one.
func (l Locate) permit(f found) (processes int64, err error) {
	if f.explicit {
		return 0, nil
	}
	// Git might refuse a repository that has no .git of its own, or a file that git checks
	// and that belongs to another user.
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
		return 1, &RefusedError{Dir: dir, Reason: Plainly(line)}
	}
	is, err := filepath.EvalSymlinks(strings.TrimSuffix(stdout.String(), "\n"))
	if err != nil || is != f.gitDir {
		return 1, &RefusedError{Dir: dir, Reason: "it finds another one from there"}
	}
	return 1, nil
}

// ownedByUser reports whether the file, or the link itself, belongs to the user of
// this process.
func ownedByUser(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(s.Uid) == os.Geteuid()
}
