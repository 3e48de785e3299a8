package commits

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitwork"
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
	commitAside // by git commit while a rebase has stopped
	commitPick
	commitRevert
)

// Message holds the arguments of the prepare-commit-msg hook.
type Message struct {
	File   string // path of the message
	Source string // "", message, template, merge, squash or commit
	Commit string // for source commit: the commit
}

// operation determines the operation in progress. Git doesn't report an amend with -m, a
// cherry-pick or a revert to its hooks. They can be detected only by their files in the git
// directory and the command line of the git process.
func (o *Operations) operation(ctx context.Context, m Message, text string) operation {
	doing, err := gitwork.InProgress(ctx, o.Repo)
	if err != nil {
		o.Log.WarnContext(ctx, "operation in progress unknown", "error", err.Error())
	}
	verb, args := o.Command(ctx)
	switch {
	case doing.Rebase && verb == "commit" && !amends(m, verb, args) && o.gitFile("rebase-merge", "current-fixups") == "":
		return commitAside
	case doing.Rebase:
		return commitRebase
	case doing.CherryPick, verb == "cherry-pick", o.reflogAction("cherry-pick"):
		return commitPick
	case doing.Revert, verb == "revert", o.reflogAction("revert"), isRevert(text):
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

func (o *Operations) reflogAction(name string) bool {
	return strings.HasPrefix(o.Env.Getenv("GIT_REFLOG_ACTION"), name)
}

// isRevert reports whether a message was written by git revert.
func isRevert(text string) bool {
	return (strings.HasPrefix(text, "Revert \"") || strings.HasPrefix(text, "Reapply \"")) &&
		regexp.MustCompile(`(?m)^This reverts commit [0-9a-f]{7,64}`).MatchString(text)
}

func amends(m Message, verb string, args []string) bool {
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

// Command returns the git command that makes the commit and its arguments, with aliases expanded.
// It returns nothing if the process can't be inspected.
func (o *Operations) Command(ctx context.Context) (verb string, args []string) {
	caller, ok := o.Env.Caller()
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
	aliases, err := o.Repo.Config.Match(ctx, `^alias\.`)
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

// prior returns the ids that a commit of this kind must keep: those of the commits that it
// replaces, copies or squashes, in order, without duplicates.
func (o *Operations) prior(ctx context.Context, op operation, head git.Commit, text string) []checkpoint.ID {
	ids := checkpoint.IDs(text)
	switch op {
	case commitAmend:
		ids = append(checkpoint.IDsOf(head), ids...)
	case commitSquash:
		// Git lists the squashed commits from the newest on.
		folded := checkpoint.IDs(o.gitFile("SQUASH_MSG"))
		slices.Reverse(folded)
		ids = append(folded, ids...)
	case commitPick:
		if c, err := o.Repo.Commit(ctx, "CHERRY_PICK_HEAD"); err == nil && len(ids) == 0 {
			ids = checkpoint.IDsOf(c)
		}
	case commitRebase:
		ids = append(ids, o.rebased(ctx)...)
	case commitAside:
		// While a rebase has stopped, the user commits other changes or a part of the picked
		// commit.
		for _, id := range o.rebased(ctx) {
			if !slices.Contains(checkpoint.IDsOf(head), id) {
				ids = append(ids, id)
			}
		}
	case commitRevert, commitMerge, commitClean, commitNew:
	}
	return unique(ids)
}

// gitFile returns the content of a file in the git directory, or "" if it can't be read.
func (o *Operations) gitFile(name ...string) string {
	data, err := disk.ReadFile(filepath.Join(append([]string{o.Repo.GitDir}, name...)...))
	if err != nil {
		return ""
	}
	return string(data)
}

// rebased returns the ids of the commits that the rebase is currently folding together or picking:
// git omits the messages of fixups, and an edited message may have lost its ids.
func (o *Operations) rebased(ctx context.Context) []checkpoint.ID {
	commits := make([]string, 0, 4)
	fixups := strings.TrimSpace(o.gitFile("rebase-merge", "current-fixups"))
	if fixups != "" {
		// HEAD is the commit into which the fixups are folded.
		commits = append(commits, "HEAD")
	}
	for line := range strings.Lines(fixups) {
		if f := strings.Fields(line); len(f) > 1 { // the command, perhaps an option, the commit
			commits = append(commits, f[len(f)-1])
		}
	}
	if len(commits) == 0 {
		if stopped := strings.TrimSpace(o.gitFile("rebase-merge", "stopped-sha")); stopped != "" {
			commits = append(commits, stopped)
		} else if verb, rev := lastDone(o.gitFile("rebase-merge", "done")); verb != "" {
			commits = append(commits, rev)
		}
	}
	var ids []checkpoint.ID
	for _, rev := range commits {
		if c, err := o.Repo.Commit(ctx, rev); err == nil {
			ids = append(ids, checkpoint.IDsOf(c)...)
		}
	}
	return ids
}

// lastDone returns the command and the commit of the last line in a rebase's list of done commands,
// if the command picks a commit.
func lastDone(list string) (verb, rev string) {
	lines := strings.Split(strings.TrimSpace(list), "\n")
	f := strings.Fields(lines[len(lines)-1])
	if len(f) < 2 || !slices.Contains([]string{"pick", "p", "reword", "r", "edit", "e"}, f[0]) {
		return "", ""
	}
	return f[0], f[1]
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
