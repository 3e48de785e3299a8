package health

import (
	"context"
	"log/slog"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/strategy/record"
)

// nextCommitJSON holds the sessions that the next commit in this worktree would be linked to.
type nextCommitJSON struct {
	Staged int         `json:"staged"`
	Linked bool        `json:"linked"`
	Shares []shareJSON `json:"shares"`
}

// shareJSON is a session's share of a commit.
type shareJSON struct {
	Session string `json:"session"`
	Files   int    `json:"files"`
}

// nextCommit determines the links of the next commit in a goroutine, because git takes long to
// compare an index. wait adds them to the report.
func nextCommit(ctx context.Context, a *app.App, repo *git.Repo, s settings.Settings) (wait func(*statusReport)) {
	if !s.Enabled {
		return func(*statusReport) {}
	}
	var next record.NextCommit
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		next, err = record.PreviewCommit(ctx, a.WorkspaceOf(repo, s, slog.New(slog.DiscardHandler)))
	}()
	return func(r *statusReport) {
		<-done
		if err != nil {
			r.Notes = append(r.Notes, app.Note{Code: "next-commit", Message: "Can't tell what the next commit would be linked to: " + err.Error()})
			return
		}
		if next.Staged == 0 && len(next.Shares) == 0 {
			return
		}
		r.Next = &nextCommitJSON{Staged: next.Staged, Linked: len(next.Shares) > 0, Shares: []shareJSON{}}
		for _, share := range next.Shares {
			r.Next.Shares = append(r.Next.Shares, shareJSON{share.Session, len(share.Files)})
		}
	}
}

// printNext prints one line about the next commit.
func printNext(w ui.Streams, next *nextCommitJSON) {
	if next == nil {
		return
	}
	files, ids := 0, make([]string, 0, len(next.Shares))
	for _, share := range next.Shares {
		files, ids = files+share.Files, append(ids, share.Session)
	}
	of := "session "
	if len(ids) > 1 {
		of = "sessions "
	}
	of += format.Sessions(ids)
	switch {
	case !next.Linked:
		w.Printf("Next commit: %s staged, none from a session: it would not be linked\n", ui.Plural(next.Staged, "file"))
	case next.Staged == 0:
		w.Printf("Next commit: nothing staged; with the pending files it would be linked to %s\n", of)
	case len(ids) > 1: // they may share files
		w.Printf("Next commit: %s staged, it would be linked to %s\n", ui.Plural(next.Staged, "file"), of)
	default:
		w.Printf("Next commit: %d of %s staged would be linked to %s\n", files, ui.Plural(next.Staged, "file"), of)
	}
}

// advice returns what to do next, "" where the state or a note says it.
func advice(r *statusReport) string {
	switch {
	case len(r.Notes) > 0 && r.Notes[0].Hint != "", r.State == stateNoRepo, r.State == stateBare, r.State == stateNotSetUp:
		return ""
	case r.State == stateDisabled:
		return "`entire enable` goes on with recording"
	case r.Next != nil && r.Next.Linked && r.Next.Staged > 0:
		return "`git commit` links the commit to its session"
	case r.Next != nil && r.Next.Linked:
		return "`git add` and `git commit` as usual; `entire diff last` shows what has changed since the last turn began"
	case len(r.Sessions) > 0:
		return "`entire log` lists what was done, `entire show` the last commit"
	}
	return "start your agent and work as usual; `entire log` then lists its turns"
}
