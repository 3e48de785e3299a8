package savedcontext

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/digest"
	"github.com/seed-3aff656d/entire/strategy/recall/memory"
	"github.com/seed-3aff656d/entire/strategy/rewind"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

const (
	// branchDepth bounds the commits of a branch whose checkpoints are read, maxTheirs the sessions
	// that are read at once, the latest first, and maxTheirFiles the files of each whose contents are
	// hashed.
	branchDepth   = 30
	maxTheirs     = 6
	maxTheirFiles = 40
)

// recordedSession is a session of a branch that this clone knows only from checkpoints.
type recordedSession struct {
	checkpoint.Stored

	ids    []checkpoint.ID // of its checkpoints on the branch, the latest first
	commit git.Commit      // that carries the latest
}

// saveRecorded saves the contexts of sessions that were not run in this clone, from the checkpoints of
// the latest commits of the checked out branch. A trunk is left out: its sessions are those of many
// branches. What was read once isn't read again, so the cost of a start is that of listing the commits.
func saveRecorded(ctx context.Context, w *workspace.Workspace) error {
	o := w.Options.Recall
	branch, err := branchShown(ctx, w)
	if err != nil || branch == "" || recall.IsTrunk(branch) || !o.Auto || !o.CaptureAnalysis {
		return err
	}
	var known map[checkpoint.ID]bool
	path := filepath.Join(workspace.MemoryDir(w.Repo), "checkpoints")
	if _, err := disk.ReadJSON(path, &known); err != nil || known == nil {
		known = map[checkpoint.ID]bool{}
	}
	found, read, err := recordedSessions(ctx, w, branch, known)
	if err != nil || len(read) == 0 {
		return err
	}
	var failed []error
	for _, s := range slices.Backward(found[:min(len(found), maxTheirs)]) { // the latest is saved last
		if err := saveRecordedSession(ctx, w, branch, s); err != nil {
			failed = append(failed, fmt.Errorf("context of session %s: %w", s.Meta.SessionID, err))
		}
	}
	const most = 2000
	if len(known) > most {
		known = map[checkpoint.ID]bool{}
	}
	for _, id := range read {
		known[id] = true
	}
	data, err := json.Marshal(known)
	if err != nil {
		return err
	}
	failed = append(failed, w.WithLock(ctx, func() error {
		if err := disk.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return err
		}
		return disk.WriteCache(path, data, 0o600)
	}))
	return errors.Join(failed...)
}

// recordedSessions returns the sessions of the branch without a state in this clone, by their latest
// checkpoint, the latest first, and the ids of all checkpoints that it has read.
func recordedSessions(ctx context.Context, w *workspace.Workspace, branch string, known map[checkpoint.ID]bool) (found []recordedSession, read []checkpoint.ID, err error) {
	type carried struct {
		id checkpoint.ID
		by git.Commit
	}
	var list []carried
	at, _, err := w.Head(ctx)
	for range branchDepth {
		if err != nil || at.OID == "" {
			break
		}
		for _, id := range slices.Backward(checkpoint.IDsOf(at)) {
			if !known[id] {
				list = append(list, carried{id, at})
			}
		}
		if len(at.Parents) == 0 {
			break
		}
		if at, err = w.Repo.Commit(ctx, string(at.Parents[0])); errors.Is(err, git.ErrMissing) {
			err = nil // a shallow clone
			break
		}
	}
	if err != nil || len(list) == 0 {
		return nil, nil, err
	}
	records, err := w.LocalRecords(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range list {
		stored, err := records.Read(ctx, c.id)
		if errors.Is(err, checkpoint.ErrNotFound) || stored.Absent {
			continue // it may be fetched later
		}
		if err != nil {
			return nil, nil, err
		}
		read = append(read, c.id)
		for _, s := range stored.Sessions {
			id := s.Meta.SessionID
			if s.Absent || s.Meta.Branch != branch || session.CheckID(id) != nil || w.Sessions.Stamp(id) != "" || isLeft(w, id) {
				continue
			}
			if i := slices.IndexFunc(found, func(f recordedSession) bool { return f.Meta.SessionID == id }); i >= 0 {
				found[i].ids = append(found[i].ids, c.id)
			} else {
				found = append(found, recordedSession{Stored: s, ids: []checkpoint.ID{c.id}, commit: c.by})
			}
		}
	}
	return found, read, nil
}

// isLeft reports whether a session left something in this clone.
func isLeft(w *workspace.Workspace, id string) bool {
	_, err := os.Lstat(leftPath(w, id))
	return err == nil
}

// saveRecordedSession saves the context of a session from its stored transcript.
func saveRecordedSession(ctx context.Context, w *workspace.Workspace, branch string, s recordedSession) error {
	redactions := w.Redactions()
	var d digest.Digest
	err := withTranscript(ctx, w, s.Stored, func(path string) error {
		_, err := d.Catch(ctx, path, w.Redact, 0)
		return err
	})
	if err != nil || d.Prompts == 0 {
		return err
	}
	authors, err := checkpoint.Authors(ctx, w.Repo, s.ids...)
	if err != nil {
		return err
	}
	me, err := w.Identity(ctx)
	if err != nil {
		return err
	}
	by := authors[s.ids[0]]
	person := ""
	if by.Email != me.Email || by.Name+by.Email == "" {
		person = w.Redact.Text(cmp.Or(by.Name, by.Email, "a person who is not recorded"))
	}
	src := digest.Sources{Root: w.Repo.Root, Branch: branch}
	c := recall.Checkpoint{
		Cause: recall.Recorded, Mode: recall.SummaryMode, Person: person, CreatedAt: s.Meta.CreatedAt, Sessions: []string{s.Meta.SessionID},
		Prompts: d.Prompts, Tokens: d.Tokens, Compaction: d.Compaction,
	}
	for _, id := range s.ids {
		c.Checkpoints = append(c.Checkpoints, string(id))
	}
	c.State.Files = map[string]recall.File{}
	for _, path := range s.Meta.FilesTouched[:min(len(s.Meta.FilesTouched), maxTheirFiles)] {
		f, err := recordedFile(ctx, w, s.commit, path)
		if err != nil {
			return err
		}
		c.State.Files[f.Path] = f
		src.Files = append(src.Files, f.Path)
	}
	c.Summary, c.Description = d.Summary(src), d.Description(src)
	c.State.Analysis, c.State.Context = d.Analysis(src), d.Context(src)
	c.State.Context.WorkingDirectory = w.Repo.Root
	c.State.Context.GitBranch, c.State.Context.GitCommit = branch, string(s.commit.OID)
	return w.WithLock(ctx, func() error {
		if w.Redactions() != redactions {
			return workspace.ErrStale
		}
		if isLeft(w, s.Meta.SessionID) {
			return nil // another process was first
		}
		if c.ID, err = Contexts(w).Put(ctx, c); err != nil {
			return err
		}
		return putLeft(w, memory.SessionOf(c))
	})
}

// recordedFile returns a file of a commit, without its content.
func recordedFile(ctx context.Context, w *workspace.Workspace, at git.Commit, path string) (recall.File, error) {
	f := recall.File{Path: w.Redact.Path(path), Change: recall.Modified, Omitted: recall.NotWanted, Tracked: recall.Committed}
	object, err := w.Repo.ReadWithin(ctx, string(at.OID)+":"+path, maxHashed)
	switch {
	case errors.Is(err, git.ErrMissing):
		f.Change, f.Tracked = recall.Deleted, ""
	case errors.Is(err, git.ErrTooMuch):
	case err != nil:
		return f, err
	case object.Type == "blob":
		sum := sha256.Sum256(object.Data)
		f.Hash, f.Size = hex.EncodeToString(sum[:]), int64(len(object.Data))
	}
	return f, nil
}

// withTranscript calls do with a file that has the stored transcript of a session, with its paths
// changed to those of this worktree. It does not call it if there is none.
func withTranscript(ctx context.Context, w *workspace.Workspace, s checkpoint.Stored, do func(path string) error) (err error) {
	dir := workspace.MemoryDir(w.Repo)
	if err := disk.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "transcript.entire-tmp-*") // swept like other temporary files
	if err != nil {
		return fmt.Errorf("copy a transcript: %w", err)
	}
	defer func() {
		if removed := os.Remove(f.Name()); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}()
	found, err := rewind.CopyTranscript(ctx, w, s, f)
	if err = errors.Join(err, f.Close()); err != nil || !found {
		return err
	}
	return do(f.Name())
}
