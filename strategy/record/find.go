package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// FoundCommit is a commit that was linked or can be.
type FoundCommit struct {
	Commit git.Commit
	// IDs are empty for a commit that gets a new checkpoint when it is linked.
	IDs []checkpoint.ID
	// Sessions are the sessions with a share, empty for a commit that was only rewritten or is Derived.
	Sessions []string
	// Derived are the checkpoints whose lines the commit has, if that is all that is known of it.
	Derived []query.DerivedLink
	// Amended reports that the commit was amended to add the trailer.
	Amended bool
}

// search selects the commits to link.
type search struct {
	// here are the sessions that may have a share, by is the session of the running hook.
	here []*session.State
	by   string
	// onlyHere skips commits that were made in another clone.
	onlyHere bool
	// dryRun finds links without writing them. derive also finds commits by the lines of checkpoints;
	// progress reports what it reads.
	dryRun, derive bool
	progress       query.Progress
}

const (
	// maxFound is the maximum number of commits in a search by a hook, maxAsked in one that the user
	// asked for.
	maxFound = 100
	maxAsked = 1000
	// maxNoted is the maximum number of commits with notes that a search compares.
	maxNoted = 64
)

// FindNewCommits links the commits that were made in this worktree since HEAD was examined last. by is the
// session of the running hook. If HEAD hasn't moved it reads HEAD and one file, and starts no git
// process. If another process is searching for longer than the lock's timeout, the commits are left to
// that process and to the next hook.
func FindNewCommits(ctx context.Context, w *workspace.Workspace, by string) (found []FoundCommit, err error) {
	head, born, err := w.Head(ctx)
	if err != nil || !born || examined(w) == head.OID {
		return nil, err
	}
	doing, err := git.OperationInProgress(ctx, w.Repo)
	if err != nil || doing.Rebase {
		return nil, err
	}
	err = exclusively(ctx, w, func() error {
		known := examined(w) // again: another process may have searched meanwhile
		if known == head.OID {
			return nil
		}
		if here := w.PendingSessions(ctx); known != "" && len(here) > 0 {
			found, err = find(ctx, w, search{here: here, by: by, onlyHere: true}, string(head.OID), "^"+string(known))
			if err != nil && ctx.Err() == nil {
				w.Log.WarnContext(ctx, "new commits not searched", "error", err.Error())
			}
			if head, _, err = w.Head(ctx); err != nil { // it may have been amended
				return err
			}
		}
		return MarkExamined(w, head.OID)
	})
	if errors.Is(err, disk.ErrLocked) {
		w.Log.InfoContext(ctx, "new commits left to the search of another process")
		return nil, nil
	}
	return found, err
}

// exclusively runs do while no other process of this repository searches for commits: two searches
// would give the same commit a checkpoint each. It returns [disk.ErrLocked] if another one holds
// the lock beyond Options.LockTimeout.
func exclusively(ctx context.Context, w *workspace.Workspace, do func() error) error {
	if err := disk.MkdirAll(w.RecordsDir(), 0o700); err != nil {
		return err
	}
	wait, cancel := context.WithTimeout(ctx, w.Options.LockTimeout)
	defer cancel()
	lock, err := disk.AcquireLock(wait, filepath.Join(w.RecordsDir(), "search.lock"))
	if err != nil {
		return err
	}
	w.Repo.Notes.Reset() // another search may have written some
	return errors.Join(do(), lock.Unlock())
}

// HasNewCommits reports whether HEAD has moved since it was examined last and pending sessions may have
// work in the new commits. It starts no git process.
func HasNewCommits(ctx context.Context, w *workspace.Workspace) bool {
	head, born, err := w.Head(ctx)
	if err != nil || !born || examined(w) == head.OID {
		return false
	}
	if examined(w) != "" && len(w.PendingSessions(ctx)) > 0 {
		return true
	}
	if err := MarkExamined(w, head.OID); err != nil {
		w.Log.WarnContext(ctx, "HEAD not noted", "error", err.Error())
	}
	return false
}

// MarkHeadPassed calls Passed for HEAD if HEAD was examined before.
func MarkHeadPassed(ctx context.Context, w *workspace.Workspace) error {
	if examined(w) == "" {
		return nil
	}
	head, born, err := w.Head(ctx)
	if err != nil || !born {
		return err
	}
	return MarkPassed(ctx, w, head)
}

// MarkPassed records a commit that its own hooks have decided about, and links the commits before it
// that were made without hooks.
func MarkPassed(ctx context.Context, w *workspace.Workspace, c git.Commit) error {
	if known := examined(w); known != "" && len(c.Parents) == 1 && c.Parents[0] != known && len(w.PendingSessions(ctx)) > 0 {
		err := exclusively(ctx, w, func() error {
			_, err := find(ctx, w, search{here: w.PendingSessions(ctx), onlyHere: true}, string(c.Parents[0]), "^"+string(known))
			return err
		})
		if errors.Is(err, disk.ErrLocked) {
			w.Log.InfoContext(ctx, "commits before left to the search of another process", "commit", string(c.OID))
			return nil
		}
		if err != nil {
			return err
		}
	}
	return MarkExamined(w, c.OID)
}

// FindUnlinked finds the commits of a range that a session made, wherever they were made, and those that
// have lines of checkpoints. With write it links them. The range has the form of the arguments of git
// log.
func FindUnlinked(ctx context.Context, w *workspace.Workspace, write bool, progress query.Progress, revs ...string) (found []FoundCommit, err error) {
	err = exclusively(ctx, w, func() error {
		found, err = find(ctx, w, search{here: w.AllSessions(ctx), dryRun: !write, derive: true, progress: progress}, revs...)
		return err
	})
	return found, err
}

func examinedPath(w *workspace.Workspace) string {
	return filepath.Join(w.RecordsDir(), "head-"+checkpoint.WorktreeHash(w.Repo.WorktreeID))
}

// examined returns the commit of HEAD when a hook examined it last, or "" if it isn't known.
func examined(w *workspace.Workspace) git.OID {
	data, err := disk.ReadFile(examinedPath(w))
	if oid := git.OID(strings.TrimSpace(string(data))); err == nil && w.Repo.Format.Valid(oid) {
		return oid
	}
	return ""
}

// MarkExamined records that head and its ancestors need no further search.
func MarkExamined(w *workspace.Workspace, head git.OID) error {
	if err := disk.MkdirAll(w.RecordsDir(), 0o700); err != nil {
		return err
	}
	return disk.WriteCache(examinedPath(w), []byte(string(head)+"\n"), 0o600)
}

// find links commits of a range, oldest first.
func find(ctx context.Context, w *workspace.Workspace, q search, revs ...string) ([]FoundCommit, error) {
	most := maxFound
	if q.derive {
		most = maxAsked
	}
	args := append([]string{fmt.Sprintf("--max-count=%d", most), "--no-merges"}, revs...)
	list, err := git.Commits(ctx, w.Repo, append(args, "--")...)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(c git.Commit) bool { return len(checkpoint.IDsOf(c)) > 0 || checkpoint.IsDeclined(c) })
	if q.onlyHere {
		if list, err = madeHere(ctx, w, list); err != nil {
			return nil, err
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	found, err := findRewritten(ctx, w, q, list)
	if err != nil {
		return nil, err
	}
	slices.Reverse(list)
	if q.derive { // lines of checkpoints say more of a commit made elsewhere than content of sessions here
		local, err := madeHere(ctx, w, list)
		if err != nil {
			return found, err
		}
		elsewhere := slices.DeleteFunc(without(list, found), func(c git.Commit) bool {
			return slices.ContainsFunc(local, func(l git.Commit) bool { return l.OID == c.OID })
		})
		derived, err := findDerived(ctx, w, q, elsewhere)
		if found = append(found, derived...); err != nil {
			return found, err
		}
	}
	for _, c := range without(list, found) {
		linked, ok, err := linkFound(ctx, w, q, c)
		if err != nil {
			return found, err
		}
		if ok {
			found = append(found, linked)
		}
	}
	if !q.derive {
		return found, nil
	}
	derived, err := findDerived(ctx, w, q, without(list, found))
	return append(found, derived...), err
}

// without returns the commits that were not found.
func without(list []git.Commit, found []FoundCommit) []git.Commit {
	return slices.DeleteFunc(slices.Clone(list), func(c git.Commit) bool {
		return slices.ContainsFunc(found, func(f FoundCommit) bool { return f.Commit.OID == c.OID })
	})
}

// findDerived links commits to the checkpoints whose lines they have.
func findDerived(ctx context.Context, w *workspace.Workspace, q search, list []git.Commit) (found []FoundCommit, err error) {
	links, err := query.DerivedLinks(ctx, w, query.LinkOptions{Progress: q.progress}, list)
	if err != nil {
		return nil, err
	}
	texts := map[git.OID]string{}
	for _, c := range list {
		if len(links[c.OID]) == 0 {
			continue
		}
		one := FoundCommit{Commit: c, Derived: links[c.OID]}
		for _, link := range one.Derived {
			one.IDs = append(one.IDs, link.Checkpoint)
		}
		one.Commit.Note += checkpoint.DerivedText(one.IDs)
		texts[c.OID] = one.Commit.Note
		found = append(found, one)
	}
	if q.dryRun || len(found) == 0 {
		return found, nil
	}
	return found, git.WriteNotes(ctx, w.Repo, signature(w, list[0]), texts)
}

// madeHere returns the commits that are recorded as committed in the reflog of HEAD, and those that
// no remote has, which another tool may have made.
func madeHere(ctx context.Context, w *workspace.Workspace, list []git.Commit) ([]git.Commit, error) {
	const end = 256 << 10 // number of bytes at the end of the reflog
	committed := map[git.OID]bool{}
	if data, err := os.ReadFile(filepath.Join(w.Repo.GitDir, "logs", "HEAD")); err == nil {
		for line := range strings.Lines(string(data[max(0, len(data)-end):])) {
			entry, action, _ := strings.Cut(line, "\t")
			if words := strings.Fields(entry); len(words) > 1 && strings.HasPrefix(action, "commit") {
				committed[git.OID(words[1])] = true
			}
		}
	}
	isCommitted := func(c git.Commit) bool { return committed[c.OID] }
	rest := slices.DeleteFunc(slices.Clone(list), isCommitted)
	if len(rest) == 0 {
		return list, nil
	}
	args := make([]string, 0, len(rest)+4)
	args = append(args, "--no-walk")
	for _, c := range rest {
		args = append(args, string(c.OID))
	}
	local, err := git.Commits(ctx, w.Repo, append(args, "--not", "--remotes", "--")...)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(list), func(c git.Commit) bool {
		return !isCommitted(c) && !slices.ContainsFunc(local, func(l git.Commit) bool { return l.OID == c.OID })
	}), nil
}

// findRewritten copies the notes of commits to those that they were rewritten to, which have the
// same patch id.
func findRewritten(ctx context.Context, w *workspace.Workspace, q search, list []git.Commit) ([]FoundCommit, error) {
	trees, err := w.Repo.Notes.Trees(ctx)
	if err != nil || trees == (git.NoteTrees{}) {
		return nil, err
	}
	own, err := notedCommits(ctx, w, trees.Own)
	if err != nil {
		return nil, err
	}
	imported, err := notedCommits(ctx, w, trees.Imported)
	if err != nil || len(own)+len(imported) == 0 {
		return nil, err
	}
	oids := slices.Concat(own, imported)
	for _, c := range list {
		oids = append(oids, c.OID)
	}
	patches, err := git.PatchIDs(ctx, w.Repo, oids)
	if err != nil {
		return nil, err
	}
	var found []FoundCommit
	ownTexts, importedTexts := map[git.OID]string{}, map[git.OID]string{}
	for _, c := range list {
		isFormer := func(oid git.OID) bool { return patches[c.OID] != "" && patches[oid] == patches[c.OID] }
		var text string
		if i := slices.IndexFunc(own, isFormer); i >= 0 {
			if text, err = w.Repo.Notes.Own(ctx, own[i]); err != nil {
				return nil, err
			}
			ownTexts[c.OID] = text
		} else if i := slices.IndexFunc(imported, isFormer); i >= 0 {
			if text, err = w.Repo.Notes.Imported(ctx, imported[i]); err != nil {
				return nil, err
			}
			importedTexts[c.OID] = text
		}
		if text == "" {
			continue
		}
		c.Note = text
		if ids := checkpoint.IDsOf(c); len(ids) > 0 {
			found = append(found, FoundCommit{Commit: c, IDs: ids})
		}
	}
	if q.dryRun {
		return found, nil
	}
	by := signature(w, list[0])
	return found, errors.Join(
		git.WriteNotes(ctx, w.Repo, by, ownTexts), git.WriteNotesIn(ctx, w.Repo, git.ImportedNotesRef, by, importedTexts))
}

// notedCommits returns commits of this repository that have a note in a tree of notes, maxNoted of them at
// most.
func notedCommits(ctx context.Context, w *workspace.Workspace, tree git.OID) ([]git.OID, error) {
	list, err := git.Noted(ctx, w.Repo, tree)
	if err != nil {
		return nil, err
	}
	var noted []git.OID
	for _, oid := range list[:min(len(list), maxNoted)] {
		switch _, err := w.Repo.Commit(ctx, string(oid)); {
		case errors.Is(err, git.ErrMissing): // of another clone
		case err != nil:
			return nil, err
		default:
			noted = append(noted, oid)
		}
	}
	return noted, nil
}

// signature returns the author of a note: the commit's committer, at the current time.
func signature(w *workspace.Workspace, c git.Commit) git.Signature {
	return git.Signature{Name: c.Committer.Name, Email: c.Committer.Email, When: w.Env.Now()}
}

// linkFound links a commit to the sessions whose content it has. It returns false if there is none.
func linkFound(ctx context.Context, w *workspace.Workspace, q search, c git.Commit) (FoundCommit, bool, error) {
	changes, err := ChangesOf(ctx, w, c)
	if err != nil {
		return FoundCommit{}, false, err
	}
	shares, err := FoundShares(ctx, w, q.here, FoundShare{Commit: c, Changes: changes, By: q.by})
	if err != nil || len(shares) == 0 {
		return FoundCommit{}, false, err
	}
	found := FoundCommit{Commit: c}
	for _, share := range shares {
		found.Sessions = append(found.Sessions, share.Session)
	}
	if q.dryRun {
		return found, true, nil
	}
	if w.Options.AmendCommits && len(shares) == 1 {
		var done Relinked
		_, err := amendable(ctx, w, string(c.OID), false)
		if err == nil {
			done, err = reword(ctx, w, c, c.Message, shares[0].Session)
		}
		if err == nil {
			found.Commit, found.IDs, found.Amended = done.Commit, done.IDs, true
			return found, true, nil
		}
		if !errors.Is(err, ErrNotLast) && !errors.Is(err, ErrPushed) && !errors.Is(err, ErrInProgress) {
			w.Log.WarnContext(ctx, "commit not amended", "commit", string(c.OID), "error", err.Error())
		}
	}
	id, err := w.NewID()
	if err != nil {
		return found, false, err
	}
	d := tracking.Decision{Worktree: w.Repo.WorktreeID, ID: id, Keep: []checkpoint.ID{id}, Shares: shares, Created: w.Env.Now().UTC(), Begun: c.Committer.When}
	if len(c.Parents) > 0 {
		d.Parent = c.Parents[0]
	}
	if d.Nonce, err = w.NewNonce(); err != nil {
		return found, false, err
	}
	if err := tracking.RecordDecision(w, &d); err != nil {
		return found, false, err
	}
	if err := authorship.RecordMade(w, d); err != nil { // only doctor needs it
		w.Log.WarnContext(ctx, "id not noted", "checkpoint_id", string(id), "error", err.Error())
	}
	text, err := w.Repo.Notes.Own(ctx, c.OID)
	if err != nil {
		return found, false, err
	}
	text += checkpoint.TrailerKey + ": " + string(id) + "\n"
	if err := git.WriteNotes(ctx, w.Repo, signature(w, c), map[git.OID]string{c.OID: text}); err != nil {
		return found, false, errors.Join(err, tracking.RemoveDecision(d))
	}
	c.Note = text
	found.Commit, found.IDs = c, d.Keep
	w.Log.InfoContext(ctx, "commit found", "commit", string(c.OID), "checkpoint_id", string(id), "sessions", len(shares))
	return found, true, ApplyDecision(ctx, w, d, tracking.LinkedCommit{Commit: c, Holder: c.OID, Late: true})
}

// FollowRewritten copies the notes of rewritten commits to the commits that replace them, given as a map of
// old ids to new ids.
func FollowRewritten(ctx context.Context, w *workspace.Workspace, moved map[git.OID]git.OID) error {
	trees, err := w.Repo.Notes.Trees(ctx)
	if err != nil {
		return err
	}
	for _, ref := range []struct {
		name string
		tree git.OID
		of   func(context.Context, git.OID) (string, error)
	}{{git.NotesRef, trees.Own, w.Repo.Notes.Own}, {git.ImportedNotesRef, trees.Imported, w.Repo.Notes.Imported}} {
		if ref.tree == "" {
			continue
		}
		texts := map[git.OID]string{}
		var by git.Signature
		for from, to := range moved {
			now, err := w.Repo.Commit(ctx, string(to))
			if err != nil {
				continue
			}
			former, err := ref.of(ctx, from)
			if err != nil || former == "" {
				continue
			}
			text, known := texts[now.OID]
			if !known {
				if text, err = ref.of(ctx, now.OID); err != nil {
					continue
				}
			}
			if next := joinNotes(text, former, now); next != text {
				texts[now.OID], by = next, signature(w, now)
			}
		}
		if err := git.WriteNotesIn(ctx, w.Repo, ref.name, by, texts); err != nil {
			return err
		}
	}
	return nil
}

// joinNotes adds to a note of a commit the lines of another that it doesn't have, except the ids that the
// commit names.
func joinNotes(text, more string, of git.Commit) string {
	for line := range strings.Lines(more) {
		if !slices.ContainsFunc(checkpoint.NoteIDs(line), func(id checkpoint.ID) bool { return slices.Contains(checkpoint.IDsOf(of), id) }) &&
			!strings.Contains(text, line) {
			text += line
		}
	}
	return text
}
