package git

import (
	"bytes"
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

// committerVar is git's variable for the committer.
const committerVar = "GIT_COMMITTER_IDENT"

// UnknownEmail is the address that Identity returns if none is configured.
const UnknownEmail = "unknown@local"

// Identity returns the committer that git would use now, or "Unknown <unknown@local>" without a
// time if none is configured.
func Identity(ctx context.Context, r *Repo) (Signature, error) {
	vars, unread := r.Config.Variables(ctx)
	given := func(env, key string) bool {
		if value, found := r.Config.LookupEnv(env); found {
			return value != ""
		}
		return lastValue(vars["committer."+key]) != "" || lastValue(vars["user."+key]) != ""
	}
	// Unless the user has configured both a name and an address, the variables contain git's guess,
	// even if git would refuse to commit with it.
	idents := vars[committerVar]
	if unread == nil && len(idents) == 1 && given("GIT_COMMITTER_NAME", "name") && given("GIT_COMMITTER_EMAIL", "email") {
		if by := ParseSignature(idents[0]); by.Name != "" {
			return by, nil
		}
	}
	out, err := r.Run(ctx, "var", committerVar)
	if _, ok := errors.AsType[*ExitError](err); ok {
		return Signature{Name: "Unknown", Email: UnknownEmail}, nil
	}
	if err != nil {
		return Signature{}, err
	}
	return ParseSignature(strings.TrimSuffix(string(out), "\n")), nil
}

// lastValue returns the last value of a setting, which is the effective one.
func lastValue(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// AddTrailers adds trailers ("Key: value") to the end of the message's trailer block by git's own
// rules, unless they are present already. Lines that begin with the comment character stay below
// them. An empty message gets room for a subject above them.
func AddTrailers(ctx context.Context, r *Repo, message []byte, trailers []string) ([]byte, error) {
	args := make([]string, 0, 10+2*len(trailers))
	args = append(args,
		"-c", "trailer.separators=:", "interpret-trailers", "--no-divider",
		"--where", "end", "--if-exists", "addIfDifferent", "--if-missing", "add")
	for _, t := range trailers {
		args = append(args, "--trailer", t)
	}
	if len(message) > 0 && message[len(message)-1] != '\n' {
		message = append(bytes.Clone(message), '\n') // else git may join the subject and the block
	}
	out, err := r.Do(ctx, Command{Args: args, Stdin: bytes.NewReader(message)})
	if err != nil {
		return nil, err
	}
	// If only empty lines are above the trailers, they become two: the subject goes on the first
	// one.
	rest := bytes.TrimLeft(out, "\n")
	first := func(t string) bool { return bytes.HasPrefix(rest, []byte(t+"\n")) }
	if len(out)-len(rest) >= 2 || !slices.ContainsFunc(trailers, first) {
		return out, nil
	}
	return append([]byte("\n\n"), rest...), nil
}
