package sharing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

const (
	// refsTogether is the number of refs that one push sends: each push costs a connection.
	refsTogether = 200
	// refsTime is the time after which no further push of refs begins, and a running one is stopped. The
	// rest is sent by the next push.
	refsTime = 5 * time.Second
	// fetchedRefs begins the names of refs of checkpoints while they are merged.
	fetchedRefs = checkpoint.FetchedRefs + "refs/"
)

// refsSent describes what was sent of the refs of checkpoints.
type refsSent struct{ sent, left int }

// sendRefs sends the refs in the queue. Those that the remote rejects because it has other commits of
// them are fetched, replayed on top of these, and sent again. What isn't sent in time remains in the
// queue.
func (p *push) sendRefs(ctx context.Context) (done refsSent, err error) {
	refs, err := p.queued(ctx)
	if err != nil || len(refs) == 0 {
		return done, err
	}
	if !p.asked {
		limited, cancel := context.WithTimeout(ctx, refsTime)
		defer cancel()
		ctx = limited
	}
	var last []string // those that the remote doesn't take go behind all others
	var refused error
	for part := range slices.Chunk(refs, refsTogether) {
		if ctx.Err() != nil {
			break
		}
		sent, failed, sendErr := p.sendPart(ctx, part)
		done.sent += len(sent)
		if _, err = checkpoint.Dequeue(context.WithoutCancel(ctx), p.w.Repo.CommonDir, nil, p.isSent(ctx, sent)); err != nil {
			return done, err
		}
		if sendErr != nil {
			if ctx.Err() == nil {
				refused = sendErr // the remote can't be reached
			}
			break
		}
		for name, why := range failed {
			last, refused = append(last, name), why
		}
	}
	done.left, err = checkpoint.Dequeue(context.WithoutCancel(ctx), p.w.Repo.CommonDir, last, func(string) bool { return false })
	return done, errors.Join(err, refused)
}

// queued returns the changes of the refs in the queue that exist. Those that don't exist are removed from
// it. The first time that anything is sent to this remote, all refs are queued.
func (p *push) queued(ctx context.Context) ([]git.RefChange, error) {
	list, err := checkpoint.RefsOf(ctx, p.w.Repo)
	if err != nil {
		return nil, err
	}
	tips := make(map[string]git.OID, len(list))
	names := make([]string, 0, len(list))
	for _, ref := range list {
		tips[ref.ID.Ref()], names = ref.Tip, append(names, ref.ID.Ref())
	}
	known := p.knownRefs()
	if _, err := os.Lstat(known); len(list) > 0 && errors.Is(err, fs.ErrNotExist) {
		if err := checkpoint.Enqueue(ctx, p.w.Repo.CommonDir, names...); err != nil {
			return nil, err
		}
		if err := errors.Join(disk.MkdirAll(p.w.RecordsDir(), 0o700), disk.WriteCache(known, nil, 0o600)); err != nil {
			return nil, fmt.Errorf("record the remote: %w", err)
		}
	}
	queue, err := checkpoint.Queued(p.w.Repo.CommonDir)
	if err != nil {
		return nil, err
	}
	var refs []git.RefChange
	stale := false
	for _, name := range queue {
		if tips[name] == "" {
			stale = true
			continue
		}
		refs = append(refs, git.RefChange{Name: name, New: tips[name]})
	}
	if !stale {
		return refs, nil
	}
	// A ref is queued before it is created, both under the repository's lock.
	return refs, p.w.WithLock(ctx, func() error {
		_, err := checkpoint.Dequeue(ctx, p.w.Repo.CommonDir, nil, func(name string) bool {
			_, err := p.w.Repo.ResolveRef(name)
			return errors.Is(err, git.ErrMissing)
		})
		return err
	})
}

// learn removes from the refs of checkpoints to send what the remote lists as forgotten: unlike a push of
// the branch, one of a new ref succeeds without a merge with what the remote has.
func (p *push) learn(ctx context.Context) error {
	refs, err := p.queued(ctx)
	if err != nil || len(refs) == 0 {
		return err
	}
	at, err := git.RemoteRef(ctx, p.w.Repo, p.remote, checkpoint.MetadataBranch)
	if err != nil {
		return err
	}
	if at != "" {
		more, err := p.w.LacksTombstones(ctx, at)
		if more = more || errors.Is(err, git.ErrMissing); more {
			var got taken
			got, err = takeInBranch(ctx, p.w, p.remote, "")
			got.report(p.shown, p.say)
		}
		if err != nil {
			return err
		}
	}
	return sweep(ctx, p.w)
}

// queueMissing queues the refs of checkpoints that the remote has not, or not with the commit that is here.
func (p *push) queueMissing(ctx context.Context) error {
	list, err := checkpoint.RefsOf(ctx, p.w.Repo)
	if err != nil || len(list) == 0 {
		return err
	}
	theirs, err := git.RemoteRefs(ctx, p.w.Repo, p.remote, checkpoint.CheckpointRefs+"*")
	if err != nil {
		return err
	}
	has := make(map[string]git.OID, len(theirs))
	for _, ref := range theirs {
		has[ref.Name] = ref.OID
	}
	var names []string
	for _, ref := range list {
		if name := ref.ID.Ref(); has[name] != ref.Tip {
			names = append(names, name)
		}
	}
	return checkpoint.Enqueue(ctx, p.w.Repo.CommonDir, names...)
}

// knownRefs returns the file whose existence shows that all refs were queued for this remote.
func (p *push) knownRefs() string {
	return filepath.Join(p.w.RecordsDir(), "refs-"+filepath.Base(p.refs[0].record))
}

// isSent returns whether the present commit of a ref was sent.
func (p *push) isSent(ctx context.Context, sent map[string]git.OID) func(name string) bool {
	return func(name string) bool {
		oid, isSent := sent[name]
		if !isSent {
			return false
		}
		tip, found, err := git.RefCommit(ctx, p.w.Repo, name)
		return err == nil && (!found || tip.OID == oid)
	}
}

// sendPart sends refs, and returns the commits of those that were sent and the reasons for others.
func (p *push) sendPart(ctx context.Context, refs []git.RefChange) (sent map[string]git.OID, failed map[string]error, err error) {
	sent, failed = map[string]git.OID{}, map[string]error{}
	for attempt := 1; len(refs) > 0; attempt++ {
		done, err := git.PushRefs(ctx, p.w.Repo, p.remote, refs)
		for _, ref := range refs {
			if slices.Contains(done.Sent, ref.Name) {
				sent[ref.Name] = ref.New
			}
		}
		for name, reason := range done.Refused {
			failed[name] = fmt.Errorf("%s (%s)", reason, name)
		}
		if err != nil || len(done.Behind) == 0 {
			return sent, failed, err
		}
		if attempt == pushAttempts {
			for _, name := range done.Behind {
				failed[name] = fmt.Errorf("%w (%s)", git.ErrRemoteDiverged, name)
			}
			return sent, failed, nil
		}
		ids := make([]checkpoint.ID, 0, len(done.Behind))
		for _, name := range done.Behind {
			if id, ok := checkpoint.ParseRef(name); ok {
				ids = append(ids, id)
			}
		}
		forgotten, err := fetchRefs(ctx, p.w, p.remote, ids)
		if err != nil {
			return sent, failed, err
		}
		refs = refs[:0:0]
		for _, id := range ids {
			if slices.Contains(forgotten, id) {
				failed[id.Ref()] = &RemoteHasForgottenError{Remote: p.shown}
				continue
			}
			tip, found, err := git.RefCommit(ctx, p.w.Repo, id.Ref())
			if err != nil {
				return sent, failed, err
			}
			if found {
				refs = append(refs, git.RefChange{Name: id.Ref(), New: tip.OID})
			}
		}
	}
	return sent, failed, nil
}

// fetchRefs fetches refs of checkpoints from a remote and merges them with those here: what is here is
// replayed on top of the remote's. What was forgotten is left out; the ids of checkpoints that had
// something of it are returned. The caller holds the lock of exchange.
func fetchRefs(ctx context.Context, w *workspace.Workspace, remote string, ids []checkpoint.ID) (forgotten []checkpoint.ID, err error) {
	specs := make([]string, len(ids))
	for i, id := range ids {
		specs[i] = "+" + id.Ref() + ":" + fetchedRefs + strings.TrimPrefix(id.Ref(), checkpoint.CheckpointRefs)
	}
	if err := git.FetchRefs(ctx, w.Repo, remote, specs); err != nil {
		return nil, err
	}
	fetched, err := git.ListRefs(ctx, w.Repo, fetchedRefs)
	if err != nil {
		return nil, err
	}
	return forgotten, w.WithLock(ctx, func() error {
		t, err := checkpoint.LoadTombstones(w.Repo.CommonDir)
		if err != nil {
			return err
		}
		rw, err := rewriting(ctx, w, t)
		if err != nil {
			return err
		}
		var updates []git.RefChange
		for _, ref := range fetched {
			id, ok := checkpoint.ParseRef(checkpoint.CheckpointRefs + strings.TrimPrefix(ref.Name, fetchedRefs))
			if !ok {
				continue
			}
			theirs := ref.OID
			if !t.IsEmpty() {
				if theirs, err = rw.Ref(ctx, ref.OID, id); err != nil {
					return err
				}
			}
			if theirs != ref.OID {
				forgotten = append(forgotten, id)
			}
			change, err := joined(ctx, w, id, theirs)
			if err != nil {
				return err
			}
			updates = append(updates, git.RefChange{Name: ref.Name, Old: ref.OID})
			if change.New != change.Old {
				updates = append(updates, change)
			}
		}
		if len(updates) == 0 {
			return nil
		}
		return git.UpdateRefs(ctx, w.Repo, "entire: fetched checkpoints", updates)
	})
}

// joined returns the change of a checkpoint's ref that adds the remote's commit theirs to it. A ref that
// then has more than the remote's is queued for the next push.
func joined(ctx context.Context, w *workspace.Workspace, id checkpoint.ID, theirs git.OID) (git.RefChange, error) {
	change := git.RefChange{Name: id.Ref(), New: theirs}
	ours, found, err := git.RefCommit(ctx, w.Repo, id.Ref())
	if err != nil || !found {
		return change, err
	}
	change.Old = ours.OID
	if change.New, err = checkpoint.MergeRef(ctx, w.Repo, id, ours.OID, theirs); err != nil || change.New == theirs {
		return change, err
	}
	return change, checkpoint.Enqueue(ctx, w.Repo.CommonDir, id.Ref())
}

// takeInRefs fetches the refs of checkpoints that a remote has and that are not, or not the same, here.
// It returns whether the remote has any.
func takeInRefs(ctx context.Context, w *workspace.Workspace, remote string) (some bool, err error) {
	theirs, err := git.RemoteRefs(ctx, w.Repo, remote, checkpoint.CheckpointRefs+"*")
	if err != nil || len(theirs) == 0 {
		return false, err
	}
	list, err := checkpoint.RefsOf(ctx, w.Repo)
	if err != nil {
		return true, err
	}
	ours := make(map[checkpoint.ID]git.OID, len(list))
	for _, ref := range list {
		ours[ref.ID] = ref.Tip
	}
	var ids []checkpoint.ID
	for _, ref := range theirs {
		if id, ok := checkpoint.ParseRef(ref.Name); ok && ours[id] != ref.OID {
			ids = append(ids, id)
		}
	}
	_, err = fetchRefs(ctx, w, remote, ids)
	return true, err
}

// NotThereError means that a checkpoint is not in this clone, and that the remotes that were asked for
// it don't have it.
type NotThereError struct {
	ID      checkpoint.ID
	Remotes []string
}

func (e *NotThereError) Error() string {
	return fmt.Sprintf("checkpoint %s is not on %s", e.ID, strings.Join(e.Remotes, ", "))
}

// Hint returns advice for the user.
func (e *NotThereError) Hint() string {
	return "it was not pushed yet, or was deleted there; run `git push` in the clone that has it"
}

// NotAskedError means that a checkpoint is not in this clone, and that a remote that may have it can't be
// asked.
type NotAskedError struct {
	ID     checkpoint.ID
	Remote string
	Err    error
}

func (e *NotAskedError) Error() string {
	return fmt.Sprintf("checkpoint %s is not in this clone, and %s can't be reached: %v", e.ID, e.Remote, e.Err)
}

// Unwrap returns the error of the remote.
func (e *NotAskedError) Unwrap() error { return e.Err }

// Hint returns advice for the user.
func (e *NotAskedError) Hint() string {
	return "`git ls-remote " + e.Remote + "` shows whether the remote is reachable"
}

// FetchRefs fetches checkpoints from the first of the remotes that has them, each by its own ref alone.
// The error is a NotThereError or a NotAskedError for the first that it can't fetch.
func FetchRefs(ctx context.Context, w *workspace.Workspace, remotes []string, ids []checkpoint.ID) error {
	left := slices.Clone(ids)
	var failed *NotAskedError
	for _, remote := range remotes {
		if len(left) == 0 {
			break
		}
		var found []checkpoint.ID
		err := exchange(ctx, w, func(bool) error {
			names := make([]string, len(left))
			for i, id := range left {
				names[i] = id.Ref()
			}
			refs, err := git.RemoteRefs(ctx, w.Repo, remote, names...)
			if err != nil {
				return err
			}
			for _, ref := range refs {
				if id, ok := checkpoint.ParseRef(ref.Name); ok && slices.Contains(left, id) {
					found = append(found, id)
				}
			}
			_, err = fetchRefs(ctx, w, remote, found)
			return err
		})
		if err != nil {
			failed = &NotAskedError{ID: left[0], Remote: git.HideURL(remote), Err: err}
			continue
		}
		left = slices.DeleteFunc(left, func(id checkpoint.ID) bool { return slices.Contains(found, id) })
	}
	switch {
	case len(left) == 0:
		return nil
	case failed != nil:
		return failed
	case len(remotes) == 0:
		return fmt.Errorf("checkpoint %s is not in this clone, which has no remote: %w", left[0], checkpoint.ErrNotFound)
	}
	return &NotThereError{ID: left[0], Remotes: remotes}
}

// ReadRemotes returns the remotes to ask for checkpoints, in order: the one of
// strategy_options.checkpoint_push_remote, the one that checkpoints are sent to, else the one that other
// versions elect (an entire:// remote if there is one only, origin, the first one); and origin.
func ReadRemotes(ctx context.Context, w *workspace.Workspace) ([]string, error) {
	names, err := git.Remotes(ctx, w.Repo)
	if err != nil {
		return nil, err
	}
	var list []string
	add := func(name string) {
		if slices.Contains(names, name) && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	add(w.Options.ReadRemote)
	add(w.Options.PushRemote)
	if len(list) == 0 {
		var special []string
		for _, name := range names {
			if place, err := git.FindPushDestination(ctx, w.Repo, name); err == nil && strings.HasPrefix(place.URL, "entire://") {
				special = append(special, name)
			}
		}
		switch {
		case len(special) == 1:
			add(special[0])
		case len(names) > 0 && !slices.Contains(names, "origin"):
			add(names[0])
		}
	}
	add("origin")
	return list, nil
}

// report prints a line about refs of checkpoints that were sent, and those that were not.
func (s refsSent) report(remote string, say func(line string)) {
	if s.sent > 0 {
		say("entire: sent " + plain.Plural(s.sent, "checkpoint") + " to " + remote)
	}
	if s.left > 0 {
		say("entire: " + plain.Plural(s.left, "checkpoint") + " left for the next push")
	}
}
