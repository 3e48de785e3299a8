package doctor

import (
	"context"
	"errors"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitwork"
	"github.com/seed-3aff656d/entire/strategy"
)

// branch is the metadata branch as read by one examination.
type branch struct {
	tip  git.Commit // empty if there is none
	list []checkpoint.Inspected
	ids  map[checkpoint.ID]bool
	// large are blobs anywhere in its history that hosts refuse.
	large []git.OID
	// err is the error of reading it. broken reports that its ref names no commit.
	err    error
	broken bool
	// deleted is its last commit before it was deleted.
	deleted git.Commit
}

func (e *exam) loadBranch(ctx context.Context) branch {
	var b branch
	b.tip, b.err = e.repo.Commit(ctx, checkpoint.MetadataBranch)
	if errors.Is(b.err, git.ErrMissing) {
		b = branch{broken: e.isBroken(ctx, checkpoint.MetadataBranch)}
		// If commits were linked here and no remote has them, the branch was deleted. Its commits
		// remain until git's gc removes them.
		if !b.broken && len(e.rec.Commits().Repairer.Linked()) > 0 && len(e.remotes(ctx)) == 0 {
			b.deleted, b.err = e.dangling(ctx)
		}
		return b
	}
	if b.err == nil {
		b.list, b.large, b.err = inspect(ctx, e.repo, b.tip)
	}
	set, err := e.repo.Config.Match(ctx, `^(extensions\.partialclone|remote\..*\.promisor)$`)
	partial := err == nil && len(set) > 0
	b.ids = make(map[checkpoint.ID]bool, len(b.list))
	for i := range b.list {
		b.ids[b.list[i].ID] = true
		if partial && len(b.list[i].Missing) > 0 { // the remote has them
			b.list[i].Lost, b.list[i].Missing, b.list[i].Summary = nil, nil, ""
		}
	}
	return b
}

// inspect examines the checkpoints of the branch, and finds blobs in its history that hosts refuse.
// Both take long and therefore run concurrently. Checkpoints are examined again only if their
// objects are missing.
func inspect(ctx context.Context, repo *git.Repo, tip git.Commit) (list []checkpoint.Inspected, large []git.OID, err error) {
	var missing map[git.OID]bool
	walked := inBackground(func() (err error) {
		missing, large, err = objects(ctx, repo, string(tip.OID))
		return err
	})
	list, err = checkpoint.Inspect(ctx, repo, tip.Tree, nil)
	if failed := walked(); failed != nil {
		return nil, nil, failed
	}
	switch {
	case len(missing) == 0:
	case err != nil:
		list, err = checkpoint.Inspect(ctx, repo, tip.Tree, missing)
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
		subject, _, _ := strings.Cut(c.Message, "\n")
		if _, ours := checkpoint.SubjectID(subject); ours {
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

// commit makes one change of the metadata branch. The caller must hold the lock.
func commit(ctx context.Context, rec *strategy.Recorder, change checkpoint.Change) error {
	by, err := gitwork.Identity(ctx, rec.Repo)
	if err != nil {
		return err
	}
	by.When = rec.Env.Now()
	_, err = checkpoint.Update(ctx, rec.Repo, by, []checkpoint.Change{change}, nil)
	return err
}
