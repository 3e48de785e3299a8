package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// commitFields is the git log format of Commits: fields in lines, before the note and the message.
// Git converts all to UTF-8.
const (
	commitFields = "%H%n%T%n%P%n%an%n%ae%n%at%n%cn%n%ce%n%ct%n"
	// noteEnd separates a note from the message.
	noteEnd = "\x1e"
)

// logArgs returns the arguments of a git log for parseLog. Notes are included if there are any, so
// that --grep searches them, too.
func logArgs(ctx context.Context, r *Repo) ([]string, error) {
	args := []string{"-c", "log.showSignature=false", "log", "-z", "--no-color", "--encoding=UTF-8"}
	trees, err := r.Notes.Trees(ctx)
	if err != nil {
		return nil, err
	}
	if trees == (NoteTrees{}) {
		return append(args, "--no-notes", "--format="+commitFields+"%x1e%B"), nil
	}
	return append(append(args, trees.logArgs()...), "--format="+commitFields+"%N%x1e%B"), nil
}

// logArgs returns the options with which git log includes the notes.
func (t NoteTrees) logArgs() []string {
	args := []string{"--no-notes"}
	if t.Own != "" {
		args = append(args, "--notes="+NotesRef)
	}
	if t.Imported != "" {
		args = append(args, "--notes="+ImportedNotesRef)
	}
	return args
}

// readLog parses the output of git log with logArgs.
func readLog(ctx context.Context, r *Repo, out []byte) ([]Commit, error) {
	commits, err := parseLog(out)
	if err != nil {
		return nil, err
	}
	return commits, r.Notes.choose(ctx, commits)
}

// Commits returns the commits that `git log` with these arguments lists, in its order. Unlike
// LastCommits it starts one process for all of them, and treats commits beyond the boundary of a
// shallow clone as missing.
func Commits(ctx context.Context, r *Repo, args ...string) ([]Commit, error) {
	all, err := logArgs(ctx, r)
	if err != nil {
		return nil, err
	}
	out, err := r.Run(ctx, append(all, args...)...)
	if err != nil {
		return nil, err
	}
	return readLog(ctx, r, out)
}

// CommitsBetween returns the commits whose message contains a text and that are reachable from the
// commits in with but not from those in without. All of these must exist.
func CommitsBetween(ctx context.Context, r *Repo, text string, with, without []OID) ([]Commit, error) {
	if len(with) == 0 {
		return nil, nil
	}
	var revs strings.Builder
	for _, oid := range with {
		revs.WriteString(string(oid) + "\n")
	}
	for _, oid := range without {
		revs.WriteString("^" + string(oid) + "\n")
	}
	args, err := logArgs(ctx, r)
	if err != nil {
		return nil, err
	}
	args = append(args, "--stdin", "-F", "--grep="+text)
	out, err := r.Do(ctx, Command{Args: args, Stdin: strings.NewReader(revs.String())})
	if err != nil {
		return nil, fmt.Errorf("compare histories: %w", err)
	}
	return readLog(ctx, r, out)
}

// IsShallow reports whether the repository is a shallow clone, which lacks commits.
func IsShallow(r *Repo) bool {
	_, err := os.Lstat(filepath.Join(r.CommonDir, "shallow"))
	return err == nil
}

// ShallowBoundary returns the commits whose parents a shallow clone lacks, none for another
// repository.
func ShallowBoundary(r *Repo) (map[OID]bool, error) {
	data, err := os.ReadFile(filepath.Join(r.CommonDir, "shallow"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // an empty set
	}
	commits := map[OID]bool{}
	for line := range strings.Lines(string(data)) {
		commits[OID(strings.TrimSpace(line))] = true
	}
	return commits, err
}

// parseLog parses git log's output in the format of logArgs with -z.
func parseLog(out []byte) ([]Commit, error) {
	var commits []Commit
	for text := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if text == "" {
			continue
		}
		const fields = 10
		f := strings.SplitN(text, "\n", fields)
		if len(f) < fields {
			return nil, fmt.Errorf("git log: unknown commit %.80q", text)
		}
		note, message, _ := strings.Cut(f[9], noteEnd)
		c := Commit{
			OID: OID(f[0]), Tree: OID(f[1]), Message: message, Note: note,
			Author: loggedSignature(f[3:6]), Committer: loggedSignature(f[6:9]),
		}
		for parent := range strings.FieldsSeq(f[2]) {
			c.Parents = append(c.Parents, OID(parent))
		}
		commits = append(commits, c)
	}
	return commits, nil
}

// loggedSignature parses name, e-mail and time.
func loggedSignature(f []string) Signature {
	s := Signature{Name: f[0], Email: f[1]}
	if seconds, err := strconv.ParseInt(f[2], 10, 64); err == nil {
		s.When = time.Unix(seconds, 0).UTC()
	}
	return s
}

// PatchIDs returns git's patch ids of commits, which identify a change independent of its base.
// Merges and empty commits have none.
func PatchIDs(ctx context.Context, r *Repo, commits []OID) (map[OID]string, error) {
	ids := make(map[OID]string, len(commits))
	if len(commits) == 0 {
		return ids, nil
	}
	var list strings.Builder
	for _, oid := range commits {
		list.WriteString(string(oid) + "\n")
	}
	patches, err := r.Do(ctx, Command{
		Args:  []string{"diff-tree", "--stdin", "-p", "--root", "--no-ext-diff", "--no-textconv", "--no-color", "--full-index", "--binary"},
		Stdin: strings.NewReader(list.String()),
	})
	if err != nil {
		return nil, err
	}
	out, err := r.Do(ctx, Command{Args: []string{"patch-id", "--stable"}, Stdin: bytes.NewReader(patches)})
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		if id, commit, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			ids[OID(commit)] = id
		}
	}
	return ids, nil
}
