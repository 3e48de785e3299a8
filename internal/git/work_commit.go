package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// SyncAll is the setting that makes git sync the objects, the index and the refs that it writes: by
// default a power failure may lose objects that a ref or the index refers to.
const SyncAll = "core.fsync=all"

// PathCommit describes a commit of some paths.
type PathCommit struct {
	// Paths are committed as they are in the working tree. The index or HEAD must have each of
	// them.
	Paths   []string
	Message string
	Env     []string // in addition to the user's
}

// CommitPaths commits paths on the checked-out branch, without other staged changes. It is the
// user's own commit: git runs in their environment, with their hooks, identity and signing key, but
// without a terminal or an editor. When ctx ends, git and its children are ended.
func CommitPaths(ctx context.Context, r *Repo, c PathCommit) error {
	if err := disk.Step("commit", r.Root); err != nil {
		return err
	}
	args := append([]string{"-c", SyncAll, "commit", "--quiet", "--only", "--cleanup=whitespace", "--message=" + c.Message}, pathsFromStdin()...)
	return whenUnlocked(ctx, func() error {
		_, err := r.Do(ctx, Command{
			Args: args, Stdin: pathspecs(c.Paths), User: true, NoTerminal: true,
			Env: append([]string{"GIT_EDITOR=true", "GIT_TERMINAL_PROMPT=0"}, c.Env...),
		})
		return err
	})
}

// Reword amends the last commit with another message, verbatim, and without staged changes. Git
// runs in the user's environment, with their signing key and all hooks except pre-commit and
// commit-msg. env is added to the environment.
func Reword(ctx context.Context, r *Repo, message string, env []string) error {
	if err := disk.Step("commit", r.Root); err != nil {
		return err
	}
	args := []string{"-c", SyncAll, "commit", "--quiet", "--amend", "--only", "--allow-empty", "--no-verify", "--cleanup=verbatim", "--file=-"}
	return whenUnlocked(ctx, func() error {
		_, err := r.Do(ctx, Command{Args: args, Stdin: strings.NewReader(message), User: true, Env: env})
		return err
	})
}

// IntendToAdd adds untracked files to the index, without their contents, so that CommitPaths
// accepts them. In a sparse checkout they may lie outside of it.
func IntendToAdd(ctx context.Context, r *Repo, paths []string) error {
	err := editIndex(ctx, r, paths, "add", "--intent-to-add")
	if _, failed := errors.AsType[*ExitError](err); failed && hasGitFile(r, "info/sparse-checkout") {
		return editIndex(ctx, r, paths, "add", "--intent-to-add", "--sparse")
	}
	return err
}

// Unstage resets paths in the index to HEAD.
func Unstage(ctx context.Context, r *Repo, paths []string) error {
	return editIndex(ctx, r, paths, "reset", "--quiet")
}

// editIndex runs a command that writes the user's index.
func editIndex(ctx context.Context, r *Repo, paths []string, command ...string) error {
	if len(paths) == 0 {
		return nil
	}
	if err := disk.Step("index", r.GitDir); err != nil {
		return err
	}
	return whenUnlocked(ctx, func() error {
		_, err := r.Do(ctx, Command{Args: slices.Concat([]string{"-c", SyncAll}, command, pathsFromStdin()), Stdin: pathspecs(paths)})
		return err
	})
}

// whenUnlocked calls do, which needs the index, and retries for a while if another git process has
// locked the index: an editor that asks for the status locks it for a moment.
func whenUnlocked(ctx context.Context, do func() error) error {
	const tries, pause = 10, 100 * time.Millisecond
	for n := 1; ; n++ {
		err := do()
		exit, failed := errors.AsType[*ExitError](err)
		if !failed || n == tries || !strings.Contains(exit.Stderr, "index.lock") {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("git %s: %w", exit.Subcommand(), context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}

// pathsFromStdin returns the options that make a command read pathspecs from stdin.
func pathsFromStdin() []string { return []string{"--pathspec-from-file=-", "--pathspec-file-nul"} }

// pathspecs returns the paths as literal pathspecs. Each one is marked as literal: the option for
// all of them would be passed on to the user's hooks.
func pathspecs(paths []string) *strings.Reader {
	var b strings.Builder
	for _, p := range paths {
		b.WriteString(":(top,literal)" + p + "\x00")
	}
	return strings.NewReader(b.String())
}
