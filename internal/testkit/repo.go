package testkit

import (
	"os"
	"path/filepath"
	"strings"
)

// Repo is a git repository, or one of its worktrees, and the environment of its user.
type Repo struct {
	TB  TB
	Dir string // the folder in which commands run
	Env Env

	// InProcess is that of the calls of the program by the user and by sessions.
	InProcess func(Call) (Result, bool)
}

// At returns the same repository with another working directory.
func (r *Repo) At(dir string) *Repo {
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.Dir, dir)
	}
	other := *r
	other.Dir = dir
	return &other
}

// For returns the same repository for another test.
func (r *Repo) For(tb TB) *Repo {
	other := *r
	other.TB = tb
	return &other
}

// Git runs git as the user; it must succeed. It returns the standard output without the last
// newline.
func (r *Repo) Git(args ...string) string {
	r.TB.Helper()
	return r.call("git", args).Must(r.TB)
}

// TryGit runs git as the user.
func (r *Repo) TryGit(args ...string) Result {
	r.TB.Helper()
	return r.call("git", args).Run(r.TB)
}

// GitInput is Git with text on standard input.
func (r *Repo) GitInput(stdin string, args ...string) string {
	r.TB.Helper()
	call := r.call("git", args)
	call.Stdin = stdin
	return call.Must(r.TB)
}

// Entire runs the binary under test as the user; it must succeed.
func (r *Repo) Entire(args ...string) string {
	r.TB.Helper()
	return r.call("entire", args).Must(r.TB)
}

// TryEntire runs the binary under test as the user.
func (r *Repo) TryEntire(args ...string) Result {
	r.TB.Helper()
	return r.call("entire", args).Run(r.TB)
}

// Sh runs a shell command as the user; it must succeed.
func (r *Repo) Sh(command string) string {
	r.TB.Helper()
	return r.call("sh", []string{"-c", command}).Must(r.TB)
}

func (r *Repo) call(name string, args []string) Call {
	return Call{Dir: r.Dir, Env: r.Env, Name: name, Args: args, InProcess: r.InProcess}
}

// Write writes a file, as the user would with an editor.
func (r *Repo) Write(path, content string) {
	r.TB.Helper()
	writeFile(r.TB, r.Path(path), content)
}

// Read returns a file's content.
func (r *Repo) Read(path string) string {
	r.TB.Helper()
	data, err := os.ReadFile(r.Path(path))
	if err != nil {
		r.TB.Fatalf("read %s: %v", path, err)
	}
	return string(data)
}

// Path returns the absolute path of a path in the repository.
func (r *Repo) Path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.Dir, path)
}

// Commit stages everything, commits it, and returns the commit's hash.
func (r *Repo) Commit(message string) string {
	r.TB.Helper()
	r.Git("add", "-A")
	r.Git("commit", "-q", "-m", message)
	return r.head()
}

// head returns the commit of HEAD. It starts no process if HEAD is a branch whose ref is a file in
// the .git of this folder.
func (r *Repo) head() string {
	r.TB.Helper()
	head, _ := os.ReadFile(r.Path(".git/HEAD"))
	if name, ok := strings.CutPrefix(string(head), "ref: "); ok {
		if oid, err := os.ReadFile(r.Path(filepath.Join(".git", strings.TrimSpace(name)))); err == nil { //nolint:gosec // a ref of a repository that the test made
			return strings.TrimSpace(string(oid))
		}
	}
	return r.Git("rev-parse", "HEAD")
}

// CommonDir returns the git common directory.
func (r *Repo) CommonDir() string {
	r.TB.Helper()
	if root := r.plainRoot(); root != "" {
		return filepath.Join(root, ".git")
	}
	return gitPath(r, "--git-common-dir")
}

// GitDir returns the git directory of this worktree.
func (r *Repo) GitDir() string {
	r.TB.Helper()
	if root := r.plainRoot(); root != "" {
		return filepath.Join(root, ".git")
	}
	return gitPath(r, "--absolute-git-dir")
}

// plainRoot returns the top of the worktree, without a process, if its .git is a directory and the
// environment selects no other repository; else "".
func (r *Repo) plainRoot() string {
	physical, err := filepath.EvalSymlinks(r.Dir)
	if err != nil || r.Env.Get("GIT_DIR")+r.Env.Get("GIT_WORK_TREE")+r.Env.Get("GIT_COMMON_DIR") != "" {
		return ""
	}
	for dir := physical; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "HEAD")); err == nil {
			return "" // a bare repository, or within a .git
		}
		if info, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			if !info.IsDir() {
				return ""
			}
			return dir
		}
	}
	return ""
}

// Root returns the top of the worktree; "" if there is none.
func (r *Repo) Root() string {
	r.TB.Helper()
	if root := r.plainRoot(); root != "" {
		return root
	}
	result := r.TryGit("rev-parse", "--show-toplevel")
	return strings.TrimSuffix(result.Stdout, "\n")
}

func gitPath(r *Repo, option string) string {
	r.TB.Helper()
	dir := r.Git("rev-parse", option)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.Dir, dir)
	}
	return dir
}

func writeFile(tb TB, path, content string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatalf("make folder: %v", err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil { //nolint:gosec // a test writes where it says
		tb.Fatalf("write: %v", err)
	}
}
