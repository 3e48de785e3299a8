package doctor

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/sharing"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// newest is the maximum number of commits of the local branches that are examined.
const newest = 500

// namedCheckpoint is a commit that names a checkpoint.
type namedCheckpoint struct {
	id     checkpoint.ID
	commit git.OID
	// imported reports that an import linked it.
	imported bool
}

// missing finds commits whose checkpoint isn't on the branch.
func (tc trailerChecks) missing(ctx context.Context) ([]Finding, error) {
	// Examine the newest commits of local branches and those that were linked here, one for each
	// id.
	args := []string{"--max-count=" + strconv.Itoa(newest), "--exclude=entire/*", "--branches"}
	if _, err := tc.repo.Commit(ctx, "HEAD"); err == nil {
		args = append(args, "HEAD")
	}
	found, err := tc.namedCheckpoints(ctx, args...)
	if err != nil {
		return nil, err
	}
	known := map[checkpoint.ID]bool{}
	for _, n := range found {
		known[n.id] = true
	}
	linked := record.LinkedCheckpoints(tc.w)
	for id, l := range linked {
		c, err := tc.repo.Commit(ctx, string(l.Commit))
		if err != nil || known[id] || !slices.Contains(checkpoint.IDsOf(c), id) {
			continue
		}
		holder, err := tc.repo.Run(ctx, "for-each-ref", "--count=1", "--contains="+string(c.OID), "--format=%(refname)", "refs/heads/", "refs/remotes/")
		if err == nil && len(holder) > 0 {
			found = append(found, namedCheckpoint{id, c.OID, checkpoint.IsImported(c)})
		}
	}
	if tc.v1.err != nil || tc.v1.broken || tc.v1.deleted.OID != "" {
		return nil, nil //nolint:nilerr // that the branch can't be read is reported by another check
	}
	slices.SortFunc(found, func(a, b namedCheckpoint) int { return strings.Compare(string(a.id), string(b.id)) })
	found = slices.CompactFunc(found, func(a, b namedCheckpoint) bool { return a.id == b.id })
	var list []Finding
	var foreign []string
	away := map[string][]string{} // by remote
	remotes := tc.remotes(ctx)
	for _, n := range found {
		if tc.v1.ids[n.id] || slices.ContainsFunc(tc.open, func(o record.OpenCommit) bool { return o.ID == n.id }) {
			continue
		}
		if remote, ok := tc.onRemote(ctx, remotes, n.id); ok {
			away[remote] = append(away[remote], n.commit.Short())
			continue
		}
		f, ours := tc.lost(ctx, n, linked)
		if !ours {
			foreign = append(foreign, n.commit.Short())
			continue
		}
		list = append(list, f)
	}
	for _, r := range remotes {
		// Without a local branch, the remote's branch is read.
		if commits := away[r.name]; len(commits) > 0 && tc.v1.tip.OID != "" {
			list = append(list, Finding{
				Code: UnfetchedPoint, Severity: Warning, Subject: r.name,
				What: "the checkpoints of " + plain.Plural(len(commits), "commit") + " are on " + r.name + " only: " + some(commits),
				Why:  "they are not shown until they are fetched",
				Fix:  "fetch the checkpoints of " + r.name + " into the local branch",
				Repair: &Repair{
					Refs: []string{checkpoint.MetadataBranch},
					Do:   func(ctx context.Context) error { return sharing.FetchCheckpoints(ctx, tc.w, r.name) },
				},
			})
		}
	}
	if len(foreign) > 0 {
		list = append(list, Finding{
			Code: ForeignCheckpoint, Severity: Note, Subject: some(foreign),
			What: "the checkpoints of " + plain.Plural(len(foreign), "commit") + " are not in this clone",
			Why:  "they were made in another clone, and can't be rebuilt here",
			Hint: "if a remote has them: git fetch <remote> entire/checkpoints/v1:refs/remotes/<remote>/entire/checkpoints/v1",
		})
	}
	return list, nil
}

// namedCheckpoints returns the checkpoints that the commits name which git log lists for args.
func (e *exam) namedCheckpoints(ctx context.Context, args ...string) ([]namedCheckpoint, error) {
	commits, err := checkpoint.LinkedCommits(ctx, e.repo, nil, args...)
	if err != nil {
		return nil, err
	}
	var list []namedCheckpoint
	for _, c := range commits {
		for _, id := range checkpoint.IDsOf(c) {
			list = append(list, namedCheckpoint{id, c.OID, checkpoint.IsImported(c)})
		}
	}
	return list, nil
}

// remote is a remote whose metadata branch was fetched.
type remote struct {
	name string
	tip  git.Commit
}

const (
	remoteRefs = "refs/remotes/"
	v1Name     = "/entire/checkpoints/v1"
)

func (e *exam) remotes(ctx context.Context) []remote {
	refs, err := git.ListRefs(ctx, e.repo, remoteRefs)
	if err != nil {
		return nil
	}
	var list []remote
	for _, ref := range refs {
		name, ok := strings.CutSuffix(strings.TrimPrefix(ref.Name, remoteRefs), v1Name)
		if tip, err := e.repo.Commit(ctx, string(ref.OID)); ok && err == nil {
			list = append(list, remote{name, tip})
		}
	}
	return list
}

// onRemote returns the remote that has the checkpoint.
func (e *exam) onRemote(ctx context.Context, remotes []remote, id checkpoint.ID) (string, bool) {
	for _, r := range remotes {
		if _, found, err := git.LookupPath(ctx, e.repo, r.tip.Tree, id.Dir()); err == nil && found {
			return r.name, true
		}
	}
	return "", false
}

// lost returns the finding for a checkpoint that can't be found. It returns false if there is no
// evidence that it was made here.
func (tc trailerChecks) lost(ctx context.Context, n namedCheckpoint, linked map[checkpoint.ID]record.LinkedFiles) (Finding, bool) {
	f := Finding{
		Code: LostCheckpoint, Severity: Warning, Subject: string(n.id),
		What: "commit " + n.commit.Short() + " names a missing checkpoint",
		Why:  "this commit's record can't be read",
	}
	if dir, ok := tc.earlier(ctx, n.id, func(git.OID) bool { return true }); ok {
		f.Fix = "restore it from the branch's history"
		f.Repair = tc.graft(n.id, dir)
		return f, true
	}
	if n.imported {
		f.Hint = "`entire import` creates it again from the agent's transcript"
		return f, true
	}
	l, known := linked[n.id]
	lost := record.LostCheckpoint{ID: n.id}
	for _, share := range tc.made()[n.id] {
		if slices.ContainsFunc(tc.states, func(s *session.State) bool { return s.ID == share.Session }) {
			lost.Shares = append(lost.Shares, share)
		}
	}
	if s := tc.maker(n.id); len(lost.Shares) == 0 && s != nil {
		lost.Shares = []tracking.Share{{Session: s.ID, Files: l.Files}}
	}
	if len(lost.Shares) == 0 {
		f.Why += ", and nothing here can rebuild it"
		f.Hint = "another clone, or a backup of the branch, may have it"
		return f, known || tc.madeHere(n)
	}
	var names, files []string
	for _, share := range lost.Shares {
		names, files = append(names, share.Session), append(files, tc.sessionFiles(share.Session)...)
	}
	f.Fix = "rebuild it from session " + strings.Join(names, ", ") + ", with its conversation so far"
	f.Repair = &Repair{
		Files: files, Checkpoints: []checkpoint.ID{n.id},
		Do: func(ctx context.Context) (err error) {
			if lost.Commit, err = tc.repo.Commit(ctx, string(n.commit)); err != nil {
				return err
			}
			// The paths that the commit changed against its first parent.
			var parent git.OID
			if len(lost.Commit.Parents) > 0 {
				parent = lost.Commit.Parents[0]
			}
			changes, err := git.Changes(ctx, tc.repo, parent, lost.Commit.OID)
			changed := make([]string, len(changes))
			for i := range changes {
				changed[i] = changes[i].Path
			}
			if err != nil {
				return err
			}
			for i, share := range lost.Shares {
				kept := slices.DeleteFunc(slices.Clone(share.Files), func(p string) bool { return !slices.Contains(changed, p) })
				if len(share.Files) == 0 {
					kept = changed // its files are not known
				}
				slices.Sort(kept)
				lost.Shares[i].Files = slices.Compact(kept)
			}
			return record.WriteLost(ctx, tc.w, lost)
		},
	}
	return f, true
}

// made returns the ids that were given to commits in this repository, read once.
func (tc trailerChecks) made() map[checkpoint.ID][]tracking.Share {
	if tc.ids == nil {
		var err error
		if tc.ids, err = authorship.MadeHere(tc.w); err != nil {
			tc.ids = map[checkpoint.ID][]tracking.Share{}
		}
	}
	return tc.ids
}

// madeHere reports whether the commit's id was assigned in this repository: the id is among the
// recorded ones, or a reflog of HEAD records that git commit made the commit.
func (tc trailerChecks) madeHere(n namedCheckpoint) bool {
	if _, ok := tc.made()[n.id]; ok {
		return true
	}
	if tc.committed == nil {
		tc.committed = map[git.OID]bool{}
		for _, path := range append(disk.Glob(tc.repo.CommonDir, "worktrees", "*", "logs", "HEAD"), filepath.Join(tc.repo.CommonDir, "logs", "HEAD")) {
			data, err := disk.ReadFile(path)
			if err != nil { // refs may not be in files
				continue
			}
			for line := range strings.Lines(string(data)) {
				who, action, ok := strings.Cut(line, "\t")
				oids := strings.Fields(who)
				byCommit := strings.HasPrefix(action, "commit:") || strings.HasPrefix(action, "commit (initial):") || strings.HasPrefix(action, "commit (merge):")
				if ok && byCommit && len(oids) > 1 {
					tc.committed[git.OID(oids[1])] = true
				}
			}
		}
	}
	return tc.committed[n.commit]
}

// maker returns the session whose work the checkpoint contains: the one whose state names it, or
// that took the snapshot paired with it. It returns nil if unknown.
func (tc trailerChecks) maker(id checkpoint.ID) *session.State {
	for _, s := range tc.states {
		if s.LastCheckpointID == string(id) || s.Recorder.CountedIn == string(id) || slices.Contains(workspace.IncompleteCheckpoints(s), string(id)) {
			return s
		}
	}
	store, err := bands.Open(tracking.StoreDir(tc.w))
	if err != nil {
		return nil
	}
	made := ""
	snapshots, _ := store.Snapshots() // those that can't be read are skipped
	for i := range snapshots {
		for _, p := range snapshots[i].Pairs {
			if p.Checkpoint == string(id) {
				made = snapshots[i].Causality.Session
			}
		}
	}
	for _, s := range tc.states {
		if s.ID == made {
			return s
		}
	}
	return nil
}
