package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ValidBranch reports whether name is valid as a branch name, and git would not parse it as an
// option or another name of a commit.
func ValidBranch(name string) bool {
	if name == "" || name == "@" || name == "HEAD" || name[0] == '-' || strings.HasSuffix(name, ".") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.Contains(name, "..") && !strings.Contains(name, "@{") && !strings.ContainsFunc(name, func(c rune) bool {
		return c <= ' ' || c == 0x7f || strings.ContainsRune(`~^:?*[\`, c)
	})
}

// DefaultBranch returns the ref of the default branch: the target of HEAD of the remote origin (the
// local branch of that name, if it exists), else main or master. It returns "" if there is none of
// them.
func DefaultBranch(ctx context.Context, r *Repo) (string, error) {
	const head, tracking, local = "refs/remotes/origin/HEAD", "refs/remotes/origin/", "refs/heads/"
	out, err := r.Run(ctx, "for-each-ref", "--format=%(refname) %(symref)", "--", head, local+"main", local+"master")
	if err != nil {
		return "", fmt.Errorf("find the default branch: %w", err)
	}
	found := ""
	for line := range strings.Lines(string(out)) {
		name, target, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != head && found == "" {
			found = name
		}
		branch, ok := strings.CutPrefix(target, tracking)
		if name != head || !ok {
			continue
		}
		if refs, err := ListRefs(ctx, r, local+branch); err == nil && len(refs) > 0 && refs[0].Name == local+branch {
			return local + branch, nil
		}
		return target, nil
	}
	return found, nil
}

// HeadBranch returns the checked-out branch without refs/heads/, even if it has no commit yet. It
// returns "" if HEAD is detached.
func HeadBranch(ctx context.Context, r *Repo) (string, error) {
	if r.RefStorage != "files" {
		out, err := r.Run(ctx, "symbolic-ref", "--quiet", "HEAD")
		if exit, ok := errors.AsType[*ExitError](err); ok && exit.Code == 1 {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		return strings.TrimPrefix(strings.TrimRight(string(out), "\n"), "refs/heads/"), nil
	}
	head := filepath.Join(r.GitDir, "HEAD")
	if target, err := os.Readlink(head); err == nil {
		return strings.TrimPrefix(filepath.ToSlash(target), "refs/heads/"), nil
	}
	data, err := os.ReadFile(head)
	if err != nil {
		return "", fmt.Errorf("read HEAD: %w", err)
	}
	name, symbolic := bytes.CutPrefix(data, []byte("ref:"))
	if !symbolic {
		return "", nil
	}
	return strings.TrimPrefix(string(bytes.TrimSpace(name)), "refs/heads/"), nil
}
