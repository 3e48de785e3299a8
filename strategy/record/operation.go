package record

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// operation is the git operation that makes a commit.
type operation int

const (
	commitNew operation = iota
	commitAmend
	commitMerge // git commit after conflicts
	commitClean // by git merge itself, which doesn't run post-commit
	commitSquash
	commitRebase
	commitEdit  // an amend while a rebase has stopped
	commitAside // a new commit while a rebase has stopped
	commitPick
	commitRevert
)

// CommitMessage holds the arguments of the prepare-commit-msg hook.
type CommitMessage struct {
	File   string // path of the message
	Source string // "", message, template, merge, squash or commit
	Commit string // for source commit: the commit
}

// currentOperation determines the operation in progress. Git doesn't report an amend with -m, a
// cherry-pick or a revert to its hooks. They can be detected only by their files in the git
// directory and the command line of the git process.
func currentOperation(ctx context.Context, w *workspace.Workspace, m CommitMessage, text string) operation {
	doing, err := git.OperationInProgress(ctx, w.Repo)
	if err != nil {
		w.Log.WarnContext(ctx, "operation in progress unknown", "error", err.Error())
	}
	verb, args := GitCommand(ctx, w)
	switch {
	case doing.Rebase && gitFile(w, "rebase-merge", "current-fixups") == "" && amends(m, verb, args):
		return commitEdit
	case doing.Rebase && gitFile(w, "rebase-merge", "current-fixups") == "" && verb == "commit" && !doing.CherryPick && !continues(args):
		return commitAside
	case doing.Rebase: // picks, folds, or the result of a conflict
		return commitRebase
	case doing.CherryPick, verb == "cherry-pick", reflogAction(w, "cherry-pick"):
		return commitPick
	case doing.Revert, verb == "revert", reflogAction(w, "revert"), isRevert(text):
		return commitRevert
	case verb == "merge" || verb == "pull":
		return commitClean
	case doing.Merge:
		return commitMerge
	case amends(m, verb, args):
		return commitAmend
	case doing.Squash, m.Source == "squash":
		return commitSquash
	default:
		return commitNew
	}
}

func reflogAction(w *workspace.Workspace, name string) bool {
	return strings.HasPrefix(w.Env.Getenv("GIT_REFLOG_ACTION"), name)
}

// isRevert reports whether a message was written by git revert.
func isRevert(text string) bool {
	return (strings.HasPrefix(text, "Revert \"") || strings.HasPrefix(text, "Reapply \"")) &&
		regexp.MustCompile(`(?m)^This reverts commit [0-9a-f]{7,64}`).MatchString(text)
}

// continues reports whether the arguments of git commit are those that git rebase --continue passes.
func continues(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return strings.HasSuffix(a, "rebase-merge/message") })
}

func amends(m CommitMessage, verb string, args []string) bool {
	// git accepts the option abbreviated, down to its shortest unique prefix.
	const full, least = "--amend", len("--am")
	flag := func(a string) bool { return len(a) >= least && len(a) <= len(full) && a == full[:len(a)] }
	switch {
	case slices.ContainsFunc(args, flag):
		return true
	case m.Source == "commit" && m.Commit == "HEAD":
		return verb == "" // otherwise it is -c HEAD or -C HEAD
	default:
		return false
	}
}

// GitCommand returns the git command that makes the commit and its arguments, with aliases expanded.
// It returns nothing if the process can't be inspected.
func GitCommand(ctx context.Context, w *workspace.Workspace) (verb string, args []string) {
	caller, ok := w.Env.Caller()
	if !ok || len(caller.Args) == 0 {
		return "", nil
	}
	args = caller.Args[1:]
	if name := filepath.Base(caller.Args[0]); strings.HasPrefix(name, "git-") {
		return strings.TrimPrefix(name, "git-"), args
	}
	args = skipGlobalOptions(args)
	if len(args) == 0 {
		return "", nil
	}
	verb, args = args[0], args[1:]
	if slices.Contains([]string{"commit", "merge", "rebase", "cherry-pick", "revert", "pull", "am", "stash"}, verb) {
		return verb, args
	}
	aliases, err := w.Repo.Config.Match(ctx, `^alias\.`)
	if err != nil {
		return verb, args
	}
	words := strings.Fields(aliases["alias."+strings.ToLower(verb)])
	if len(words) == 0 {
		return verb, args
	}
	return words[0], slices.Concat(words[1:], args)
}

// skipGlobalOptions removes the options before git's subcommand.
func skipGlobalOptions(args []string) []string {
	valued := []string{"-c", "-C", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix", "--attr-source"}
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if slices.Contains(valued, args[0]) && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	return args
}

// prior returns the ids of the commits that a commit of this kind replaces, copies or folds, in
// order, without duplicates. Git may copy their messages, but so may a person into the text of a new
// commit: the ids in a text count only where git composed it and the commits aren't known.
func prior(ctx context.Context, w *workspace.Workspace, op operation, head git.Commit, text string) []checkpoint.ID {
	switch op {
	case commitAmend, commitEdit:
		return checkpoint.LinkedIDs(head)
	case commitSquash:
		// Git lists the squashed commits from the newest on.
		folded := checkpoint.IDs(gitFile(w, "SQUASH_MSG"))
		slices.Reverse(folded)
		return folded
	case commitPick, commitRebase:
		commits := copied(ctx, w, op)
		if len(commits) == 0 {
			return checkpoint.IDs(text)
		}
		var ids []checkpoint.ID
		for _, c := range commits {
			ids = append(ids, checkpoint.LinkedIDs(c)...)
		}
		return unique(ids)
	case commitNew:
		if verb, _ := GitCommand(ctx, w); verb == "" && head.OID != "" { // it may be an amend
			own := checkpoint.LinkedIDs(head)
			return slices.DeleteFunc(checkpoint.IDs(text), func(id checkpoint.ID) bool { return !slices.Contains(own, id) })
		}
	case commitAside, commitRevert, commitMerge, commitClean:
	}
	return nil
}

// copies reports whether git makes such a commit of others, with their messages.
func (op operation) copies() bool { return op == commitRebase || op == commitPick }

// gitFile returns the content of a file in the git directory, or "" if it can't be read.
func gitFile(w *workspace.Workspace, name ...string) string {
	data, err := disk.ReadFile(filepath.Join(append([]string{w.Repo.GitDir}, name...)...))
	if err != nil {
		return ""
	}
	return string(data)
}

// copied returns the commits that git copies or folds into the new one.
func copied(ctx context.Context, w *workspace.Workspace, op operation) []git.Commit {
	if op == commitRebase {
		return rebased(ctx, w)
	}
	c, err := w.Repo.Commit(ctx, "CHERRY_PICK_HEAD")
	if err != nil {
		return nil
	}
	return []git.Commit{c}
}

// rebased returns the commits that the rebase is currently folding together or picking: git omits
// the messages of fixups, and an edited message may have lost its ids.
func rebased(ctx context.Context, w *workspace.Workspace) []git.Commit {
	revs := make([]string, 0, 4)
	fixups := strings.TrimSpace(gitFile(w, "rebase-merge", "current-fixups"))
	if fixups != "" {
		// HEAD is the commit into which the fixups are folded.
		revs = append(revs, "HEAD")
	}
	for line := range strings.Lines(fixups) {
		if f := strings.Fields(line); len(f) > 1 { // the command, perhaps an option, the commit
			revs = append(revs, f[len(f)-1])
		}
	}
	if len(revs) == 0 {
		for _, rev := range []string{
			strings.TrimSpace(gitFile(w, "rebase-merge", "stopped-sha")),
			strings.TrimSpace(gitFile(w, "rebase-apply", "original-commit")),
			lastDone(gitFile(w, "rebase-merge", "done")),
		} {
			if rev != "" {
				revs = append(revs, rev)
				break
			}
		}
	}
	var commits []git.Commit
	for _, rev := range revs {
		if c, err := w.Repo.Commit(ctx, rev); err == nil {
			commits = append(commits, c)
		}
	}
	return commits
}

// lastDone returns the commit of the last line in a rebase's list of done commands, if the command
// picks a commit or copies a merge.
func lastDone(list string) string {
	lines := strings.Split(strings.TrimSpace(list), "\n")
	f := strings.Fields(lines[len(lines)-1])
	switch {
	case len(f) > 1 && slices.Contains([]string{"pick", "p", "reword", "r", "edit", "e"}, f[0]):
		return f[1]
	case len(f) > 2 && slices.Contains([]string{"merge", "m"}, f[0]) && (f[1] == "-C" || f[1] == "-c"):
		return f[2]
	default:
		return ""
	}
}

func unique(ids []checkpoint.ID) []checkpoint.ID {
	var out []checkpoint.ID
	for _, id := range ids {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}
