package rewindcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/rewind"
)

// logsRestore restores only the stored transcripts of a checkpoint, no files.
type logsRestore struct{ *rewinding }

// logs restores the transcripts of a commit's checkpoint, and with --reset also resets the branch.
func (l *logsRestore) logs(ctx context.Context, p rewind.Point) error {
	if p.Checkpoint == "" {
		return fmt.Errorf("%s has no checkpoint", format.ID(p.ID))
	}
	if l.opts.reset {
		if err := l.clean(ctx); err != nil {
			return err
		}
	}
	convs, skipped, err := rewind.RestoreLogs(ctx, l.w, p.Checkpoint)
	if err != nil {
		return absentError(err)
	}
	l.skipped(skipped)
	if len(convs) == 0 && !l.opts.reset {
		return fmt.Errorf("checkpoint %s has no transcript that can be restored", p.Checkpoint)
	}
	for _, t := range convs {
		l.NoteConversation(t)
	}
	if l.opts.reset {
		if err := l.resetTo(ctx, p); err != nil {
			return err
		}
	}
	if l.opts.json {
		j := logsJSON{Checkpoint: string(p.Checkpoint), Transcripts: []logJSON{}}
		if l.opts.reset {
			j.Reset = string(p.Commit)
		}
		for _, t := range convs {
			j.Transcripts = append(j.Transcripts, logJSON{t.Session, t.Path, t.Changed, t.Copy})
		}
		return l.Streams.JSON(j)
	}
	written := func(t rewind.Conversation) bool { return t.Changed || len(t.Subagents) > 0 }
	switch {
	case l.opts.reset:
	case slices.ContainsFunc(convs, written):
		l.Streams.Printf("Restored the transcripts of checkpoint %s. Your files are unchanged.\n", p.Checkpoint)
	default:
		l.Streams.Printf("Nothing to restore: the transcripts of checkpoint %s are already here. Your files are unchanged.\n", p.Checkpoint)
	}
	for _, t := range convs {
		l.Streams.Printf("Continue the session: %s\n", t.Agent.Resume(t.Session))
	}
	return nil
}

// preview prints which transcripts would be written, and the commit of a reset.
func (l *logsRestore) preview(ctx context.Context, p rewind.Point) error {
	if p.Checkpoint == "" {
		return fmt.Errorf("%s has no checkpoint", format.ID(p.ID))
	}
	logs, skipped, err := rewind.PreviewLogs(ctx, l.w, p.Checkpoint)
	if err != nil {
		return absentError(err)
	}
	l.skipped(skipped)
	if l.opts.json {
		j := logsJSON{Checkpoint: string(p.Checkpoint), Transcripts: []logJSON{}}
		if l.opts.reset {
			j.Reset = string(p.Commit)
		}
		for _, log := range logs {
			j.Transcripts = append(j.Transcripts, logJSON{Session: log.Session, Path: log.Path, Changed: log.Status != rewind.LogSame})
		}
		return l.Streams.JSON(j)
	}
	if l.opts.reset {
		l.Streams.Printf("Would reset the branch to %s.\n", p.Commit.Short())
	} else {
		l.Streams.Printf("No file would change: only transcripts are restored.\n")
	}
	for _, log := range logs {
		what := "write"
		if log.Status == rewind.LogSame {
			what = "keep"
		}
		l.Streams.Printf("%-11s %s\n", what, format.Path(log.Path))
	}
	return nil
}

// skipped prints a note on each session whose transcript is not restored.
func (l *logsRestore) skipped(sessions []rewind.Skipped) {
	absent := false
	for _, s := range sessions {
		absent = absent || s.Absent
		l.Streams.Notef("Session %s: no transcript restored: %s", cmp.Or(format.Session(s.Session), "without an id"), ui.Line(s.Why, format.LineWidth))
	}
	if absent {
		l.Streams.Hint(format.AbsentHint)
	}
}

// absentError adds a hint if the checkpoint is not in this clone.
func absentError(err error) error {
	if errors.Is(err, git.ErrMissing) {
		return app.WithHint(err, format.AbsentHint)
	}
	return err
}

// logsJSON is the preview, or the result, of restoring only transcripts.
type logsJSON struct {
	Checkpoint  string    `json:"checkpoint"`
	Reset       string    `json:"reset,omitempty"`
	Transcripts []logJSON `json:"transcripts"`
}

type logJSON struct {
	Session string `json:"session_id"`
	Path    string `json:"transcript_path"`
	Changed bool   `json:"changed"`
	Copy    string `json:"copy,omitempty"`
}

// clean refuses a reset that would lose uncommitted changes, unless a snapshot holds them or
// --force is given.
func (l *logsRestore) clean(ctx context.Context) error {
	err := rewind.Rescue(ctx, l.w, "before reset")
	if err == nil || l.opts.force {
		return nil
	}
	entries, statusErr := git.Status(ctx, l.repo)
	if statusErr != nil {
		return statusErr
	}
	for _, e := range entries {
		if e.Index != '?' {
			return app.WithHint(fmt.Errorf("a reset would lose your uncommitted changes, and no snapshot can keep them: %w", err),
				"commit or stash them first, or use --force")
		}
	}
	return nil
}

// resetTo resets the branch, and prints how to undo that; with --json on standard error.
func (l *logsRestore) resetTo(ctx context.Context, p rewind.Point) error {
	old, err := l.repo.Commit(ctx, "HEAD")
	if err != nil {
		return err
	}
	if _, err := l.repo.Run(ctx, "-c", git.SyncAll, "reset", "--hard", "--quiet", string(p.Commit)); err != nil {
		return err
	}
	text := fmt.Sprintf("Reset branch to %s.\nTo undo this reset: git reset --hard %s", p.Commit.Short(), old.OID.Short())
	if l.opts.json {
		l.Streams.Notef("%s", text)
	} else {
		l.Streams.Printf("%s\n", text)
	}
	return nil
}
