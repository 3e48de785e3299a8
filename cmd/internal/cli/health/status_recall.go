package health

import (
	"context"
	"log/slog"
	"time"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
)

// mostPending is the maximum number of pending saved contexts that are listed.
const mostPending = 20

// contextJSON is the part of `status` about the saved contexts of this worktree.
type contextJSON struct {
	Latest *contextEntryJSON `json:"latest"`
	// Pending holds ids, the newest first, at most mostPending.
	Pending []string `json:"pending"`
}

type contextEntryJSON struct {
	ID        string    `json:"id"`
	Summary   string    `json:"summary"`
	CreatedAt time.Time `json:"created_at"`
	Cause     string    `json:"cause"`
	Status    string    `json:"status"`
}

// contextCheckpoints reads the saved contexts in a goroutine. wait adds them to the report.
func contextCheckpoints(ctx context.Context, a *app.App, repo *git.Repo, s settings.Settings) (wait func(*statusReport)) {
	if !s.Configured {
		return func(*statusReport) {}
	}
	var found contextJSON
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		found, err = lookForContexts(ctx, savedcontext.Contexts(a.WorkspaceOf(repo, s, slog.New(slog.DiscardHandler))), repo.Root)
	}()
	return func(r *statusReport) {
		<-done
		r.addContexts(found, err)
	}
}

// contextLister lists saved contexts.
type contextLister interface {
	List(ctx context.Context, f contextstore.Filter) ([]contextstore.Entry, error)
}

func lookForContexts(ctx context.Context, store contextLister, root string) (contextJSON, error) {
	j := contextJSON{Pending: []string{}}
	last, err := store.List(ctx, contextstore.Filter{Worktree: root, Limit: 1})
	if err != nil || len(last) == 0 {
		return j, err
	}
	e := last[0]
	j.Latest = &contextEntryJSON{ID: e.ID, Summary: e.Summary, CreatedAt: format.UTC(e.CreatedAt), Cause: string(e.Cause), Status: string(e.Status)}
	pending, err := store.List(ctx, contextstore.Filter{Worktree: root, Status: recall.Pending, Limit: mostPending})
	for _, e := range pending {
		j.Pending = append(j.Pending, e.ID)
	}
	return j, err
}

// addContexts adds saved contexts to the report, or a note on the error.
func (r *statusReport) addContexts(found contextJSON, err error) {
	if err != nil {
		r.Notes = append(r.Notes, app.Note{
			Code: "contexts", Message: "Can't read the context checkpoints: " + err.Error(), Hint: "run `entire doctor`",
		})
		return
	}
	r.Contexts = &found
}

// printContexts prints a line about the latest saved context, and for each pending one the command
// that discards it.
func printContexts(a *app.App, w ui.Streams, j *contextJSON) {
	if j == nil || j.Latest == nil {
		return
	}
	w.Printf("Context: checkpoint %s%s (%s)\n", j.Latest.ID, format.Quoted(j.Latest.Summary), ui.Ago(a.Now(), j.Latest.CreatedAt))
	for _, id := range j.Pending {
		w.Printf("  pending; to discard it: entire recall discard %s\n", id)
	}
}
