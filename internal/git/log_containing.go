package git

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// stateFileLimit is the size above which a file of git's own state is not searched for commits.
	stateFileLimit = 1 << 20
	// stateCommits bounds the commits taken from such files.
	stateCommits = 20_000
)

// CommitsContaining returns the commits whose message contains one of the texts, newest first. It
// searches everything that can still lead to a commit: the refs, HEADs and reflogs of all
// worktrees, ORIG_HEAD and similar refs, and the records of a rebase, cherry-pick or merge in
// progress in any worktree. Branches below refs/heads/entire/ are not searched. Unless since is
// zero, commits with an older committer date, and commits reachable only through them, are left
// out.
func CommitsContaining(ctx context.Context, r *Repo, since time.Time, texts ...string) ([]Commit, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	args, err := logArgs(ctx, r)
	if err != nil {
		return nil, err
	}
	args = append(args,
		"--ignore-missing", "--exclude=refs/heads/entire/*", "--exclude=refs/entire/*", "--exclude=refs/notes/*", "--all", "--reflog", "--stdin", "-F")
	for _, text := range texts {
		args = append(args, "--grep="+text)
	}
	if !since.IsZero() {
		args = append(args, "--max-age="+strconv.FormatInt(since.Unix(), 10))
	}
	// The reflog of the metadata branch leads to its whole history, which shares no commit with the
	// user's branches.
	revs := "^refs/heads/entire/checkpoints/v1\n" + strings.Join(stateRevisions(r), "\n") + "\n"
	out, err := r.Do(ctx, Command{Args: args, Stdin: strings.NewReader(revs)})
	if err != nil {
		return nil, fmt.Errorf("search commits: %w", err)
	}
	return readLog(ctx, r, out)
}

// stateRevisions returns commits that are named in git's own files rather than by refs: in
// ORIG_HEAD, MERGE_HEAD and so on, and in the records of rebases and sequences of picks.
func stateRevisions(r *Repo) []string {
	entries, _ := os.ReadDir(filepath.Join(r.CommonDir, "worktrees")) // none without linked worktrees
	dirs, prefixes := make([]string, 0, len(entries)+1), make([]string, 0, len(entries)+1)
	dirs, prefixes = append(dirs, r.CommonDir), append(prefixes, "main-worktree/")
	for _, e := range entries {
		dirs = append(dirs, filepath.Join(r.CommonDir, "worktrees", e.Name()))
		prefixes = append(prefixes, "worktrees/"+e.Name()+"/")
	}
	var revs []string
	if r.RefStorage != "files" { // they are not files in that case
		for _, p := range prefixes {
			for _, name := range []string{"ORIG_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "MERGE_HEAD"} {
				revs = append(revs, p+name)
			}
		}
	}
	found := map[string]bool{}
	for _, dir := range dirs {
		collectOIDs(r, dir, func(name string) bool { return strings.HasSuffix(name, "_HEAD") }, found)
		for _, sub := range []string{"rebase-merge", "rebase-apply", "sequencer"} {
			collectOIDs(r, filepath.Join(dir, sub), func(string) bool { return true }, found)
		}
	}
	for oid := range found {
		revs = append(revs, oid)
	}
	slices.Sort(revs)
	return revs
}

// collectOIDs adds to found every whole object id in those files of dir whose names match.
func collectOIDs(r *Repo, dir string, match func(name string) bool, found map[string]bool) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	words := regexp.MustCompile(`\b[0-9a-f]{` + strconv.Itoa(r.Format.HexLen()) + `}\b`)
	for _, e := range entries {
		if !match(e.Name()) || e.Type()&fs.ModeType != 0 {
			continue
		}
		info, err := e.Info()
		if err != nil || info.Size() > stateFileLimit {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		for _, word := range words.FindAll(data, -1) {
			if len(found) >= stateCommits {
				return
			}
			found[string(bytes.Clone(word))] = true
		}
	}
}
