package doctor

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/record"
)

// recent is the number of checkpoints that are examined unless all are.
const recent = 1000

// branch is the metadata branch as read by one examination, with the checkpoints that are elsewhere here.
type branch struct {
	tip git.Commit // empty if there is none
	ids map[checkpoint.ID]bool
	// imported are those that are only on checkpoint.ImportedRef.
	imported map[checkpoint.ID]bool
	// list are the examined checkpoints: all, or if partial is true those changed last.
	list    []checkpoint.Inspected
	partial bool
	// large are blobs that hosts refuse: anywhere in its history, if partial in the examined
	// checkpoints.
	large []git.OID
	// err is the error of reading it. broken reports that its ref names no commit.
	err    error
	broken bool
	// deleted is its last commit before it was deleted.
	deleted git.Commit
}

// loadBranch reads the branch. It calls begin before it examines the checkpoints.
func (e *exam) loadBranch(ctx context.Context, all bool, begin func(partial bool)) branch {
	var b branch
	inRefs, unread := e.inRefs(ctx)
	imported, unreadImported := e.imported(ctx)
	unread = errors.Join(unread, unreadImported)
	b.tip, b.err = e.repo.Commit(ctx, checkpoint.MetadataBranch)
	if errors.Is(b.err, git.ErrMissing) {
		b = branch{broken: e.isBroken(ctx, checkpoint.MetadataBranch)}
		// If commits were linked here and no remote has them, the branch was deleted. Its commits
		// remain until git's gc removes them.
		if !b.broken && wereOnBranch(record.LinkedCheckpoints(e.w), inRefs) && len(e.remotes(ctx)) == 0 {
			b.deleted, b.err = e.dangling(ctx)
		}
	}
	var located []checkpoint.Located
	if b.err == nil && b.tip.OID != "" {
		located, b.err = checkpoint.BranchSource(e.repo, b.tip.Tree).List(ctx)
	}
	if b.err == nil {
		b.err = unread
	}
	b.ids = make(map[checkpoint.ID]bool, len(located)+len(inRefs)+len(imported.list))
	for _, c := range slices.Concat(located, inRefs, imported.list) {
		b.ids[c.ID] = true
	}
	b.imported = make(map[checkpoint.ID]bool, len(imported.list))
	for _, c := range imported.list {
		b.imported[c.ID] = true
	}
	// A branch whose last commits can't be read is examined whole, which finds what is missing.
	var revs []string
	if b.tip.OID != "" {
		revs = append(revs, string(b.tip.OID))
	}
	if len(inRefs) > 0 {
		revs = append(revs, "--glob="+checkpoint.CheckpointRefs+"*")
	}
	if imported.tip != "" {
		revs = append(revs, string(imported.tip))
	}
	if !all && len(located)+len(inRefs)+len(imported.list) > recent {
		last, err := lastChanged(ctx, e.repo, b.tip.OID, located)
		lastImported, failed := lastChanged(ctx, e.repo, imported.tip, imported.list)
		if err == nil && failed == nil {
			newest := inRefs[max(0, len(inRefs)-recent):] // ULIDs are in the order of their times
			located, inRefs, imported.list, b.partial = last, newest, lastImported, true
			revs = append(make([]string, 0, 1+len(last)+len(newest)+len(lastImported)), "--ignore-missing")
			for _, c := range slices.Concat(last, newest, lastImported) {
				revs = append(revs, string(c.Dir))
			}
		}
	}
	located = slices.Concat(located, inRefs, imported.list)
	begin(b.partial)
	if b.err != nil || len(located) == 0 {
		return b
	}
	b.list, b.large, b.err = inspect(ctx, e.repo, located, revs)
	set, err := e.repo.Config.Match(ctx, `^(extensions\.partialclone|remote\..*\.promisor)$`)
	partial := err == nil && len(set) > 0
	for i := range b.list {
		if partial && len(b.list[i].Missing) > 0 { // the remote has them
			b.list[i].Lost, b.list[i].Missing, b.list[i].Summary = nil, nil, ""
		}
	}
	return b
}

// inRefs locates the checkpoints in refs that aren't read from the branch, in the order of their ids.
func (e *exam) inRefs(ctx context.Context) ([]checkpoint.Located, error) {
	all, err := checkpoint.RefSource(e.repo).List(ctx)
	if err != nil {
		return nil, err
	}
	e.refs = make(map[checkpoint.ID]bool, len(all))
	for _, c := range all {
		e.refs[c.ID] = true
	}
	records, err := e.w.LocalRecords(ctx)
	if err != nil {
		return nil, err
	}
	var list []checkpoint.Located
	for _, c := range all {
		at := c
		if !c.ID.IsULID() { // the branch may have it, too
			if at, err = records.Locate(ctx, c.ID); err != nil {
				return nil, err
			}
		}
		if at.InRef {
			list = append(list, at)
		}
	}
	return list, nil
}

// importedCheckpoints are the checkpoints that are read from checkpoint.ImportedRef, and its commit.
type importedCheckpoints struct {
	tip  git.OID
	list []checkpoint.Located
}

// imported locates the checkpoints that are only on checkpoint.ImportedRef.
func (e *exam) imported(ctx context.Context) (importedCheckpoints, error) {
	tip, found, err := git.RefCommit(ctx, e.repo, checkpoint.ImportedRef)
	if err != nil || !found {
		return importedCheckpoints{}, git.UnlessMissing(err) // a broken ref is reported by another check
	}
	records, err := e.w.LocalRecords(ctx)
	if err != nil {
		return importedCheckpoints{}, err
	}
	list, err := records.List(ctx)
	return importedCheckpoints{tip.OID, slices.DeleteFunc(list, func(c checkpoint.Located) bool { return !c.Imported })}, err
}

// wereOnBranch reports whether one of the linked checkpoints must have been on the branch.
func wereOnBranch(linked map[checkpoint.ID]record.LinkedFiles, inRefs []checkpoint.Located) bool {
	for id := range linked {
		if !id.IsULID() && !slices.ContainsFunc(inRefs, func(c checkpoint.Located) bool { return c.ID == id }) {
			return true
		}
	}
	return false
}

// lastChanged returns those of the checkpoints that the last commits of a history changed, recent
// of them at most. Commits that raise redaction rules don't count: they change all.
func lastChanged(ctx context.Context, repo *git.Repo, tip git.OID, located []checkpoint.Located) ([]checkpoint.Located, error) {
	if len(located) == 0 {
		return located, nil
	}
	out, err := repo.Run(ctx, "-c", "log.showSignature=false", "log", "--format=", "--name-only", "-z", "--no-renames",
		"--invert-grep", "--grep=^"+strings.TrimSpace(checkpoint.RulesMessage)+"$", "--max-count="+strconv.Itoa(recent), string(tip), "--")
	if err != nil {
		return nil, err
	}
	changed := make(map[checkpoint.ID]bool, recent)
	const parts = 3
	for path := range strings.SplitSeq(string(out), "\x00") {
		dirs := strings.SplitN(strings.TrimLeft(path, "\n"), "/", parts)
		if len(changed) == recent || len(dirs) < parts {
			continue
		}
		if id, err := checkpoint.ParseID(dirs[0] + dirs[1]); err == nil {
			changed[id] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(located), func(c checkpoint.Located) bool { return !changed[c.ID] }), nil
}

// inspect examines checkpoints, and finds missing objects and blobs that hosts refuse among those
// reachable from revs. Both take long and therefore run concurrently. Checkpoints are examined again
// only if their objects are missing.
func inspect(ctx context.Context, repo *git.Repo, located []checkpoint.Located, revs []string) (list []checkpoint.Inspected, large []git.OID, err error) {
	var missing map[git.OID]bool
	walked := inBackground(func() (err error) {
		missing, large, err = objects(ctx, repo, revs...)
		return err
	})
	list, err = checkpoint.Inspect(ctx, repo, located, nil)
	if failed := walked(); failed != nil {
		return nil, nil, failed
	}
	switch {
	case len(missing) == 0:
	case err != nil:
		list, err = checkpoint.Inspect(ctx, repo, located, missing)
	default:
		for i := range list {
			c := &list[i]
			if complete(ctx, repo, c.Dir, missing) {
				continue
			}
			if *c, err = checkpoint.InspectDir(ctx, repo, c.ID, c.Dir, missing); err != nil {
				return list, large, err
			}
		}
	}
	return list, large, err
}

// inBackground starts do, and returns a function that waits for it and returns its error.
func inBackground(do func() error) func() error {
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = do()
	}()
	return func() error {
		<-done
		return err
	}
}

// limit is slightly less than the size of a blob that common hosts refuse.
const limit = "95m"

// objects walks everything reachable from the arguments of rev-list. It returns the missing objects
// and the blobs larger than limit.
func objects(ctx context.Context, repo *git.Repo, revs ...string) (missing map[git.OID]bool, large []git.OID, err error) {
	args := []string{"rev-list", "--objects", "--no-object-names", "--missing=print", "--filter=blob:limit=" + limit, "--filter-print-omitted"}
	out, err := repo.Run(ctx, append(args, revs...)...)
	if err != nil {
		return nil, nil, err
	}
	missing = map[git.OID]bool{}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		switch oid := git.OID(strings.TrimLeft(line, "?~")); {
		case strings.HasPrefix(line, "?"):
			missing[oid] = true
		case strings.HasPrefix(line, "~"):
			large = append(large, oid)
		}
	}
	return missing, large, nil
}

// dangling returns the newest commit in the repository that was made for the metadata branch, as
// its subject shows; the zero commit if there is none.
func (e *exam) dangling(ctx context.Context) (git.Commit, error) {
	out, err := e.repo.Run(ctx, "cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objecttype) %(objectname)")
	if err != nil {
		return git.Commit{}, err
	}
	var found []git.Commit
	parents := map[git.OID]bool{}
	for line := range strings.Lines(string(out)) {
		oid, ok := strings.CutPrefix(strings.TrimSpace(line), "commit ")
		if !ok {
			continue
		}
		c, err := e.repo.Commit(ctx, oid)
		if err != nil {
			return git.Commit{}, err
		}
		if _, ours := checkpoint.SubjectID(c.Subject()); ours {
			found = append(found, c)
			for _, p := range c.Parents {
				parents[p] = true
			}
		}
	}
	var newest git.Commit
	for _, c := range found {
		if !parents[c.OID] && (newest.OID == "" || c.Committer.When.After(newest.Committer.When)) {
			newest = c
		}
	}
	return newest, nil
}
