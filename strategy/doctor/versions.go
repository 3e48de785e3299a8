package doctor

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
)

// versions holds the trees that checkpoints had in the history of the metadata branch, or of the imported
// ones, newest first.
type versions struct {
	dirs map[checkpoint.ID][]git.OID
	// tips are root trees in which a checkpoint is searched after dirs: those in the branch's
	// reflog and those of remotes.
	tips []git.OID
	// missing are the objects of dirs and tips that this clone lacks; nil if git could not list
	// them.
	missing map[git.OID]bool
}

// earlier returns the last version of a checkpoint that is complete in this clone and for which
// fits returns true.
func (e *exam) earlier(ctx context.Context, id checkpoint.ID, fits func(dir git.OID) bool) (git.OID, bool) {
	if e.past == nil {
		e.past = e.loadVersions(ctx)
	}
	tried := map[git.OID]bool{"": true}
	try := func(dir git.OID) bool {
		if tried[dir] {
			return false
		}
		tried[dir] = true
		return fits(dir) && e.whole(ctx, id, dir)
	}
	for _, dir := range append(e.pastOfRef(ctx, id), e.past.dirs[id]...) {
		if try(dir) {
			return dir, true
		}
	}
	for _, tree := range e.past.tips {
		at, err := checkpoint.BranchSource(e.repo, tree).Locate(ctx, id)
		if err == nil && try(at.Dir) {
			return at.Dir, true
		}
	}
	return "", false
}

// pastOfRef returns the directories that a checkpoint had in the history of its ref, newest first.
func (e *exam) pastOfRef(ctx context.Context, id checkpoint.ID) (dirs []git.OID) {
	tip, found, err := git.RefCommit(ctx, e.repo, id.Ref())
	for found && err == nil {
		dirs = append(dirs, tip.Tree)
		if tip.FirstParent() == "" {
			break
		}
		tip, err = e.repo.Commit(ctx, string(tip.FirstParent()))
	}
	return dirs
}

// loadVersions reads the histories of the metadata branch and of the imported checkpoints once for all
// checkpoints. It skips parts that can't be read.
func (e *exam) loadVersions(ctx context.Context) *versions {
	past := &versions{dirs: map[checkpoint.ID][]git.OID{}}
	for _, ref := range []string{checkpoint.MetadataBranch, checkpoint.ImportedRef} {
		if out, err := e.repo.Run(ctx, "-c", "log.showRoot=true", "log", "-m", "--raw", "-t", "-z", "--no-abbrev", "--no-renames", "--format=", ref, "--"); err == nil {
			past.add(string(out))
		}
	}
	const most = 200
	known := map[git.OID]bool{}
	addTip := func(c git.Commit) {
		if !known[c.Tree] {
			known[c.Tree] = true
			past.tips = append(past.tips, c.Tree)
		}
	}
	if out, err := e.repo.Run(ctx, "log", "-g", "--format=%H", "--max-count="+strconv.Itoa(most), checkpoint.MetadataBranch, "--"); err == nil {
		for oid := range strings.FieldsSeq(string(out)) {
			if c, err := e.repo.Commit(ctx, oid); err == nil {
				addTip(c)
			}
		}
	}
	for _, r := range e.remotes(ctx) {
		addTip(r.tip)
	}
	// One git process lists the missing objects of all versions.
	var trees strings.Builder
	for _, dirs := range past.dirs {
		for _, dir := range dirs {
			trees.WriteString(string(dir) + "\n")
		}
	}
	for _, tip := range past.tips {
		trees.WriteString(string(tip) + "\n")
	}
	args := []string{"rev-list", "--objects", "--no-object-names", "--missing=print", "--ignore-missing", "--stdin"}
	missing := map[git.OID]bool{}
	err := e.repo.Stream(ctx, git.Command{Args: args, Stdin: strings.NewReader(trees.String())}, func(out io.Reader) error {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if oid, found := strings.CutPrefix(lines.Text(), "?"); found {
				missing[git.OID(oid)] = true
			}
		}
		return lines.Err()
	})
	if err == nil {
		past.missing = missing
	}
	return past
}

// add parses the output of git log --raw -z: ":<modes> <old> <new> <status>", followed by a zero
// byte and the path.
func (v *versions) add(raw string) {
	var fields []string
	for record := range strings.SplitSeq(raw, "\x00") {
		if record = strings.TrimLeft(record, "\n"); strings.HasPrefix(record, ":") {
			fields = strings.Fields(record)
			continue
		}
		id, err := checkpoint.ParseID(strings.Replace(record, "/", "", 1))
		if err != nil || id.Dir() != record || len(fields) < 5 {
			continue
		}
		const tree = "040000"
		if fields[1] == tree {
			v.dirs[id] = append(v.dirs[id], git.OID(fields[3]))
		}
		if fields[0] == ":"+tree {
			v.dirs[id] = append(v.dirs[id], git.OID(fields[2]))
		}
	}
}

// whole reports whether a checkpoint's directory is complete in this clone and can be read.
func (e *exam) whole(ctx context.Context, id checkpoint.ID, dir git.OID) bool {
	missing := e.past.missing
	if missing == nil {
		var err error
		if missing, _, err = objects(ctx, e.repo, string(dir)); err != nil {
			return false
		}
	}
	if !complete(ctx, e.repo, dir, missing) {
		return false
	}
	found, err := checkpoint.InspectDir(ctx, e.repo, id, dir, missing)
	return err == nil && found.OK()
}

// complete reports whether a tree and everything below it is in this clone.
func complete(ctx context.Context, repo *git.Repo, tree git.OID, missing map[git.OID]bool) bool {
	entries, err := repo.Tree(ctx, tree)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if missing[e.OID] || e.Mode == git.ModeTree && !complete(ctx, repo, e.OID, missing) {
			return false
		}
	}
	return true
}
