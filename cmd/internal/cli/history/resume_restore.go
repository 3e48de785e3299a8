package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/session/transcript/plugintranscript"
	"github.com/seed-3aff656d/entire/strategy/rewind"
	"github.com/seed-3aff656d/entire/strategy/sharing"
)

// restore restores the sessions of a checkpoint, and checks out its branch.
func (r *resuming) restore(ctx context.Context, b rewind.ResumeBranch, c rewind.Carrier) error {
	stored, err := r.stored(ctx, b, c)
	if err != nil {
		return err
	}
	logs, skipped, err := rewind.ResumeLogs(ctx, r.w, stored)
	if err != nil {
		return unread(err)
	}
	if r.only != "" {
		logs = slices.DeleteFunc(logs, func(l rewind.Log) bool { return l.Session != r.only })
		skipped = slices.DeleteFunc(skipped, func(s rewind.Skipped) bool { return transcript.SessionID(s.Session) != r.only })
	}
	absent := stored.Absent || slices.ContainsFunc(stored.Sessions, func(s checkpoint.Stored) bool { return s.Absent })
	if absent {
		r.Streams.Notef("Metadata of checkpoint %s is not in this clone.", stored.ID)
	}
	for _, s := range skipped {
		absent = absent || s.Absent
		r.Streams.Notef("Session %s can't be resumed: %s", cmp.Or(ui.Line(s.Session, 60), "without an id"), ui.Line(s.Why, 80))
	}
	if absent {
		r.Streams.Hint(format.AbsentHint)
	}
	if len(logs) == 0 {
		return fmt.Errorf("no session of checkpoint %s can be resumed", stored.ID)
	}
	// A transcript that goes on beyond the stored one is kept, unless the user agrees to replace
	// it. All are checked before the first is written.
	var ids []string
	command := ""
	for _, log := range logs {
		if log.Status == rewind.LogNewer {
			ids = append(ids, log.Session)
			command = log.Agent.Resume(log.Session)
		}
	}
	if len(ids) > 0 && !r.opts.force {
		what := strings.Join(ids, ", ") + " continued after that checkpoint"
		hint := "continue it: " + command + "; --force replaces it (a copy is kept)"
		if !r.Prompter.Interactive() {
			return app.WithHint(errors.New("session "+what+"; nothing was written"), hint)
		}
		answers, err := r.Prompter.Ask(ctx, ui.Question{Title: "Session " + what + ". Replace its transcript?", Help: "A copy of the current one is kept.", Flag: "--force"})
		if err != nil {
			return err
		}
		if answers[0] != ui.Yes {
			r.Streams.Notef("Nothing was written.")
			r.Streams.Hint(hint)
			return app.ErrDone
		}
	}
	if err := r.checkOut(ctx, b); err != nil {
		return err
	}
	if n := len(logs); n > 1 {
		r.Streams.Notef("Restoring %d sessions from checkpoint: %s", n, stored.ID)
	}
	result := newResumedJSON(b, c, stored.ID)
	for _, log := range logs {
		conv, err := rewind.PutLog(ctx, r.w, log)
		if err != nil {
			return err
		}
		r.NoteConversation(conv)
		result.Sessions = append(result.Sessions, resumedSession{
			Session: log.Session, Prompt: log.Prompt, Path: conv.Path, Restored: conv.Changed, Copy: conv.Copy,
			Subagents: conv.Subagents, Command: resumeCommand(log.Agent, log.Session, conv.Path),
		})
	}
	first := ""
	if len(logs) > 1 {
		first = "most recent"
		if logs[0].Lines > logs[1].Lines {
			first = "wrote most of the commit"
		}
	}
	return r.finish(result, first, r.repo.Root)
}

// finish prints the commands that continue the sessions in a folder; first is the reason why the
// first of several sessions is listed first.
func (r *resuming) finish(result *resumedJSON, first, folder string) error {
	if r.opts.json {
		return r.Streams.JSON(result)
	}
	for _, s := range result.Sessions {
		r.Streams.Notef("Session: %s", s.Session)
	}
	several := len(result.Sessions) > 1
	what := "this session"
	if several {
		what = "one of these sessions"
	}
	r.Streams.Notef("\nTo continue %s, run:", what)
	for i, s := range result.Sessions {
		line := "  " + s.Command
		if about := ui.Line(s.Prompt, 60); about != "" {
			line += "  # " + about
		}
		if i == 0 && several {
			line += " (" + first + ")"
		}
		r.Streams.Notef("%s", line)
	}
	if r.Dir != folder {
		r.Streams.Hint("run it in " + format.Path(folder) + ": the agent looks for sessions by folder")
	}
	return nil
}

// stored reads the newest checkpoint of c, and fetches it if it isn't stored here. If the remote
// doesn't have it, an earlier checkpoint of the same commit is used.
func (r *resuming) stored(ctx context.Context, b rewind.ResumeBranch, c rewind.Carrier) (checkpoint.Checkpoint, error) {
	stored, err := rewind.FindStored(ctx, r.w, c.IDs[:1])
	if !errors.Is(err, checkpoint.ErrNotFound) {
		return stored, unread(err)
	}
	missing := r.fetchCheckpoints(ctx, b, c.IDs)
	if ctx.Err() != nil {
		return stored, missing
	}
	stored, err = rewind.FindStored(ctx, r.w, c.IDs)
	switch {
	case errors.Is(err, checkpoint.ErrNotFound) && missing != nil:
		return stored, fmt.Errorf("checkpoint %s is not in this clone: %w", c.IDs[0], missing)
	case errors.Is(err, checkpoint.ErrNotFound):
		return stored, app.WithHint(fmt.Errorf("checkpoint %s is neither in this clone nor on the remote", c.IDs[0]), notPushed)
	case err == nil && stored.ID != c.IDs[0]:
		r.Streams.Notef("Checkpoint %s is missing; using the one before it, %s.", c.IDs[0], stored.ID)
	}
	return stored, unread(err)
}

// notPushed is a hint on why a checkpoint may be missing.
const notPushed = "its author may not have pushed it, or pushed it elsewhere: set `strategy_options.push_remote`"

// fetchCheckpoints fetches checkpoints from the remote: those with refs alone, for others the branch.
func (r *resuming) fetchCheckpoints(ctx context.Context, b rewind.ResumeBranch, ids []checkpoint.ID) error {
	name := b.Name
	if name == "" {
		var err error
		if name, err = git.HeadBranch(ctx, r.repo); err != nil {
			return err
		}
	}
	remote, err := rewind.CheckpointRemote(ctx, r.w, name)
	if refused, ok := errors.AsType[*sharing.RemoteRefusedError](err); ok {
		return app.WithHint(err, refused.Hint())
	}
	if err != nil {
		return err
	}
	if remote == "" {
		return app.WithHint(errors.New("no remote to fetch from"), "set `strategy_options.push_remote` in .entire/settings.local.json")
	}
	inRefs := slices.DeleteFunc(slices.Clone(ids), func(id checkpoint.ID) bool { return !id.IsULID() })
	return r.WithTransferProgress(r.repo, "Fetching checkpoints", func() error {
		if len(inRefs) < len(ids) {
			if err := sharing.FetchCheckpoints(ctx, r.w, remote); err != nil {
				return app.WithHint(err, notPushed)
			}
		}
		if len(inRefs) == 0 {
			return nil
		}
		remotes, err := sharing.ReadRemotes(ctx, r.w)
		if err != nil {
			return err
		}
		if !slices.Contains(remotes, remote) {
			remotes = append([]string{remote}, remotes...)
		}
		return sharing.FetchRefs(ctx, r.w, remotes, inRefs)
	})
}

// unread adds a hint to the error of an object that the clone lacks.
func unread(err error) error {
	if errors.Is(err, git.ErrMissing) {
		return app.WithHint(err, format.AbsentHint)
	}
	return err
}

// resumedJSON is the output of `resume --json`; docs/formats/resume.md describes it.
type resumedJSON struct {
	Branch     string           `json:"branch,omitempty"`
	Switched   bool             `json:"switched"`
	Commit     string           `json:"commit,omitempty"`
	Checkpoint string           `json:"checkpoint,omitempty"`
	Sessions   []resumedSession `json:"sessions"`
}

// resumedSession is a session that can be continued.
type resumedSession struct {
	Session  string `json:"session_id"`
	Prompt   string `json:"prompt,omitempty"`
	Path     string `json:"transcript_path"`
	Restored bool   `json:"restored"`
	Copy     string `json:"copy,omitempty"`
	// Subagents holds the paths of the transcripts of subagents that were written.
	Subagents []string `json:"subagents,omitempty"`
	Command   string   `json:"command"`
}

// resumeCommand returns the agent's command that continues a session. An agent with a database
// first imports the document beside a restored transcript.
func resumeCommand(a agent.Agent, id, path string) string {
	if document := plugintranscript.DocumentPath(path); a.HandsOver() {
		if _, err := os.Lstat(document); err == nil {
			return a.ResumeImported(id, document)
		}
	}
	return a.Resume(id)
}

func newResumedJSON(b rewind.ResumeBranch, c rewind.Carrier, id checkpoint.ID) *resumedJSON {
	return &resumedJSON{
		Branch: b.Name, Switched: !b.Current, Commit: string(c.Commit.OID), Checkpoint: string(id), Sessions: []resumedSession{},
	}
}
