package record

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// WriteSlot returns the change that writes a session's slot.
func WriteSlot(ctx context.Context, w *workspace.Workspace, d tracking.Decision, c authorship.Slot) (checkpoint.Change, error) {
	s := c.State
	slot, err := slot(ctx, w, s, c.Notes)
	if err != nil {
		return checkpoint.Change{}, err
	}
	branch, err := git.HeadBranch(ctx, w.Repo)
	if err != nil {
		branch = ""
	}
	total := s.Total()
	branch = w.Redact.Path(branch)
	slot.Written = c.Written
	slot.Meta.CheckpointID, slot.Meta.CreatedAt, slot.Meta.Branch = d.ID, d.Created, branch
	slot.Meta.CheckpointsCount, slot.Meta.TurnID, slot.Meta.Model = s.CheckpointCount, s.TurnID, w.Redact.Path(s.Recorder.Model)
	for _, p := range c.Files {
		slot.Meta.FilesTouched = append(slot.Meta.FilesTouched, w.Redact.Path(p))
	}
	slot.Meta.TranscriptStart, slot.Meta.TranscriptIDAtStart = s.TranscriptStart, s.TranscriptIDAtStart
	slot.Meta.TranscriptEnd = s.Recorder.Cursor.Lines
	slot.Meta.SessionTokenUsage, slot.Meta.Attribution, slot.Meta.Title = &total, c.Attribution, c.Title
	slot.Meta.OtherRepositories = othersOf(w, s, slot.Meta.OtherRepositories)
	if counts(s, d) {
		slot.Meta.TokenUsage = &c.Tokens
	}
	shadow := ""
	if s.BaseCommit != "" {
		shadow = checkpoint.ShadowBranch(git.OID(s.BaseCommit), s.WorktreeID)
	}
	files, err := taskEdits(ctx, w, s)
	if err != nil {
		return checkpoint.Change{}, err
	}
	info := checkpoint.SummaryInfo{Branch: branch, CLIVersion: w.Env.Version, Strategy: w.StrategyName()}
	next := func(ctx context.Context, at checkpoint.Present) (git.OID, string, error) {
		slot := slot
		if old, ok := oldSlot(ctx, w.Repo, at, d.ID, s.ID); ok && d.Amend { // its start remains
			slot.Meta.CreatedAt = old.Meta.CreatedAt
			slot.Meta.TranscriptStart, slot.Meta.TranscriptIDAtStart = old.Meta.TranscriptStart, old.Meta.TranscriptIDAtStart
			slot.Meta.CheckpointsCount = max(old.Meta.CheckpointsCount, slot.Meta.CheckpointsCount)
			if slot.Meta.TokenUsage == nil {
				slot.Meta.TokenUsage, slot.Meta.SessionTokenUsage = old.Meta.TokenUsage, old.Meta.SessionTokenUsage
			}
			slot.Meta.Title = cmp.Or(slot.Meta.Title, old.Meta.Title)
			slot.Meta.OtherRepositories = othersOf(w, s, old.Meta.OtherRepositories)
			slot.Meta.RedactionRules = min(slot.Meta.RedactionRules, old.Meta.RedactionRules)
			if len(slot.Transcript.Segments) == 0 {
				slot.Transcript, slot.Prompts, slot.Written = old.Transcript, old.Prompts, old.Written
				slot.Meta.TranscriptEnd, slot.Meta.TranscriptLines = old.Meta.TranscriptEnd, old.Meta.TranscriptLines
			}
		}
		forgotten, err := at.IsForgotten(ctx, checkpoint.SessionIn{ID: d.ID, Session: s.ID})
		if err != nil || forgotten {
			return at.Dir, "", err
		}
		dir, err := checkpoint.Put(ctx, w.Repo, at, d.ID, slot, info)
		if err == nil {
			dir, err = checkpoint.PutTasks(ctx, w.Repo, dir, files)
		}
		return dir, checkpoint.CommitMessage(d.ID, slot.Meta, shadow), err
	}
	return checkpoint.Change{ID: d.ID, Next: next}, nil
}

// slot returns the part of a session's slot that doesn't depend on the commit.
func slot(ctx context.Context, w *workspace.Workspace, s *session.State, n *tracking.Pending) (checkpoint.Slot, error) {
	prompts, err := tracking.Prompts(w, s, n)
	if errors.Is(err, session.ErrCorrupt) {
		prompts, err = tracking.RereadPrompts(ctx, w, s, n)
	}
	if err != nil {
		return checkpoint.Slot{}, err
	}
	var stored checkpoint.StoredTranscript
	if s.Recorder.Stored.Raw > 0 {
		stored, err = tracking.StoredSegments(ctx, w, s)
	} else {
		stored, err = fromShadow(ctx, w, s)
	}
	if err != nil {
		return checkpoint.Slot{}, err
	}
	return checkpoint.Slot{
		Transcript: stored,
		Prompts:    prompts,
		Meta: checkpoint.SessionMeta{
			CLIVersion: w.Env.Version, SessionID: s.ID, Strategy: w.StrategyName(), Agent: s.AgentType,
			TranscriptPath: checkpoint.RelTranscript(w.Env.Home, s.TranscriptPath), TranscriptLines: s.Recorder.Stored.Lines,
			RedactionRules: s.Recorder.Rules,
		},
	}, nil
}

// fromShadow returns the transcript on the shadow branch, for a session whose live transcript no
// longer exists.
func fromShadow(ctx context.Context, w *workspace.Workspace, s *session.State) (checkpoint.StoredTranscript, error) {
	tree, err := w.ShadowTree(ctx, s)
	if err != nil {
		return checkpoint.StoredTranscript{}, err
	}
	dir, found, err := w.Lookup(ctx, tree, checkpoint.MetadataDir(s.ID))
	if err != nil || !found {
		return checkpoint.StoredTranscript{}, err
	}
	t, _, err := tracking.Segmenter(w, s).Restore(ctx, dir.OID)
	return t, err
}

// oldSlot reads the existing slot of a session in a checkpoint.
func oldSlot(ctx context.Context, repo *git.Repo, at checkpoint.Present, id checkpoint.ID, sessionID string) (checkpoint.Slot, bool) {
	c, err := at.Read(ctx, repo, id)
	if err != nil {
		return checkpoint.Slot{}, false
	}
	for _, stored := range c.Sessions {
		if stored.Meta.SessionID != sessionID {
			continue
		}
		slot := checkpoint.Slot{Meta: stored.Meta}
		slot.Transcript, _, err = stored.Transcript(ctx, repo)
		if err != nil {
			return checkpoint.Slot{}, false
		}
		slot.Prompts, err = stored.Prompts(ctx, repo)
		return slot, err == nil
	}
	return checkpoint.Slot{}, false
}

// counts reports whether tokens are counted for the decision's checkpoint. An older checkpoint that
// is changed keeps its count: later tokens are counted for other checkpoints.
func counts(s *session.State, d tracking.Decision) bool {
	return !d.Amend || s.LastCheckpointID == string(d.ID)
}

// othersOf returns the names of the other repositories of a session, with those that are known already,
// sorted.
func othersOf(w *workspace.Workspace, s *session.State, known []string) []string {
	names := slices.Clone(known)
	add := func(root, commonDir string) {
		if commonDir != w.Repo.CommonDir {
			names = append(names, w.Redact.Path(filepath.Base(root)))
		}
	}
	for _, o := range s.Recorder.Others {
		add(o.Root, o.CommonDir)
	}
	if r, found := w.Env.Machine.Find(s.ID); found {
		for _, o := range r.Repositories {
			if other, err := session.Open(o.CommonDir).Load(s.ID); err == nil && workspace.HasRecord(other) {
				add(o.Root, o.CommonDir)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// tokensOf returns the tokens that a checkpoint counts: those that no checkpoint of the session has
// counted so far, in any of its repositories, and if it is the session's last one here, those that it
// counts already.
func tokensOf(w *workspace.Workspace, s *session.State, isLast bool) session.Tokens {
	share := s.Total().Minus(countedAnywhere(w, s)).Positive()
	if isLast {
		share = share.Plus(s.Recorder.Counted.Minus(s.Recorder.CountedBefore))
	}
	return share
}

// countedAnywhere returns the session's total when a checkpoint counted its tokens last, in any of its
// repositories: they read the same transcript.
func countedAnywhere(w *workspace.Workspace, s *session.State) session.Tokens {
	counted := s.Recorder.Counted
	dirs := map[string]bool{w.Repo.CommonDir: true}
	add := func(commonDir string) {
		if dirs[commonDir] {
			return
		}
		dirs[commonDir] = true
		if o, err := session.Open(commonDir).Load(s.ID); err == nil {
			counted = counted.Max(o.Recorder.Counted)
		}
	}
	if r, err := w.Env.Machine.Load(s.ID); err == nil {
		for _, o := range r.Repositories {
			add(o.CommonDir)
		}
	}
	for _, o := range s.Recorder.Others {
		add(o.CommonDir)
	}
	return counted
}

// maxTaskBlob is the maximum size of a file of a task. Larger files are omitted.
const maxTaskBlob = 95 << 20

// taskEdits returns the files of the session's tasks since its last commit. With auto-commit these are
// the files of the task checkpoints, including steps, redacted once more: another version of the
// tool doesn't redact them on shadow branches. Otherwise they are the ends of the tasks and the
// stored transcripts of the subagents: nothing large is read or redacted.
func taskEdits(ctx context.Context, w *workspace.Workspace, s *session.State) ([]git.TreeEdit, error) {
	if w.Options.Strategy != workspace.AutoCommit {
		return storedTasks(ctx, w, s)
	}
	tree, err := w.ShadowTree(ctx, s)
	if err != nil {
		return nil, err
	}
	files, err := checkpoint.ListShadowTasks(ctx, w.Repo, tree, s.ID)
	if err != nil {
		return nil, err
	}
	kept := files[:0]
	for _, f := range files {
		object, err := w.Repo.Read(ctx, string(f.OID))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", f.Path, err)
		}
		if len(object.Data) > maxTaskBlob {
			w.Log.WarnContext(ctx, "task file left out", "session_id", s.ID, "bytes", len(object.Data))
			continue
		}
		lines := bytes.Split(object.Data, []byte("\n"))
		if json.Valid(object.Data) { // else each line is a document
			lines = [][]byte{object.Data}
		}
		for i, line := range lines {
			if lines[i], err = w.Redact.LineContext(ctx, line); err != nil {
				return nil, fmt.Errorf("redact %s: %w", f.Path, err)
			}
		}
		clean := bytes.Join(lines, []byte("\n"))
		if !bytes.Equal(clean, object.Data) {
			if f.OID, err = w.Repo.WriteBlob(clean); err != nil {
				return nil, fmt.Errorf("write %s: %w", f.Path, err)
			}
		}
		kept = append(kept, f)
	}
	return kept, nil
}

// storedTasks returns the files of the tasks whose transcripts are stored.
func storedTasks(ctx context.Context, w *workspace.Workspace, s *session.State) ([]git.TreeEdit, error) {
	var files []git.TreeEdit
	for i := range s.Recorder.Tasks {
		task := &s.Recorder.Tasks[i]
		var agent []git.OID // nil if one of the blobs no longer exists
		for _, id := range task.Stored {
			oid := git.OID(id)
			there := w.Repo.Format.Valid(oid)
			if there && !w.Repo.Loose.Has(oid) {
				object, err := w.Repo.ReadWithin(ctx, id, maxTaskBlob)
				there = err == nil && object.Type == "blob"
			}
			if !there {
				agent = nil
				w.Log.WarnContext(ctx, "transcript of a subagent is lost", "session_id", s.ID)
				break
			}
			agent = append(agent, oid)
		}
		if len(agent) == 0 || task.Phase != session.TaskDone || !transcript.IsToolID(task.ToolUse) || session.CheckID(task.Agent) != nil {
			continue
		}
		end := checkpoint.TaskEnd{Session: s.ID, ToolUse: task.ToolUse, UUID: task.Answer, Agent: task.Agent}
		edits, err := checkpoint.WriteTaskFiles(w.Repo, end, agent)
		if err != nil {
			return nil, err
		}
		files = append(files, edits...)
	}
	return files, nil
}
