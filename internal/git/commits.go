package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// commitFormat is what Commits asks git log for: fields in lines, the message
// last. Git converts it to UTF-8.
const commitFormat = "--format=%H%n%T%n%P%n%an%n%ae%n%at%n%cn%n%ce%n%ct%n%B"

// Commits gives the commits that `git log` with these arguments lists, in its
// order. Unlike Log it starts a process for all of them, and reads what lies
// beyond the boundary of a shallow clone as not there.
func (r *Repo) Commits(ctx context.Context, args ...string) ([]Commit, error) {
	all := append([]string{"-c", "log.showSignature=false", "log", "-z", "--no-color", "--no-notes", "--encoding=UTF-8", commitFormat}, args...)
	out, err := r.Run(ctx, all...)
	if err != nil {
		return nil, err
	}
	return parseLog(out)
}

// parseLog reads what git log prints in commitFormat with -z.
func parseLog(out []byte) ([]Commit, error) {
	var commits []Commit
	for text := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if text == "" {
			continue
		}
		c, ok := parseLogged(text)
		if !ok {
			return nil, fmt.Errorf("git log: unknown commit %.80q", text)
		}
		commits = append(commits, c)
	}
	return commits, nil
}

// parseLogged reads one commit in commitFormat.
func parseLogged(text string) (Commit, bool) {
	const fields = 10
	f := strings.SplitN(text, "\n", fields)
	if len(f) < fields {
		return Commit{}, false
	}
	c := Commit{
		OID: OID(f[0]), Tree: OID(f[1]), Message: f[9],
		Author: loggedSignature(f[3:6]), Committer: loggedSignature(f[6:9]),
	}
	for parent := range strings.FieldsSeq(f[2]) {
		c.Parents = append(c.Parents, OID(parent))
	}
	return c, true
}

// loggedSignature reads name, e-mail and time.
func loggedSignature(f []string) Signature {
	s := Signature{Name: f[0], Email: f[1]}
	if seconds, err := strconv.ParseInt(f[2], 10, 64); err == nil {
		s.When = time.Unix(seconds, 0).UTC()
	}
	return s
}

// DefaultBranch is the ref of the branch that others grow from: the one that
// HEAD of the remote origin names, as it is here if it is here, else main or
// master. It is empty if there is none of them.
func (r *Repo) DefaultBranch(ctx context.Context) (string, error) {
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
		if refs, err := r.Refs(ctx, local+branch); err == nil && len(refs) > 0 && refs[0].Name == local+branch {
			return local + branch, nil
		}
		return target, nil
	}
	return found, nil
}
