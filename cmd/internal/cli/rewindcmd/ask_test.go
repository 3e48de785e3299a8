package rewindcmd

import (
	"log/slog"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/rewind"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// A rewind during a turn asks first, because the agent doesn't notice that files change. A rewind
// that restores only transcripts doesn't ask.
func TestRewindAsksOnlyIfFilesChange(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("w")
	first := git.OID(s.Git(dir, "rev-parse", "HEAD"))
	turn := rewind.Point{ID: "1a2b3c4", Shadow: first}
	stored := rewind.Point{ID: "1a2b3c5", Commit: first, Checkpoint: checkpoint.ID("a1b2c3d4e5f6")}
	for name, c := range map[string]struct {
		point  rewind.Point
		opts   rewindOptions
		atRest bool // no turn is under way
		later  bool // a commit follows
		asked  bool
	}{
		"files of a turn":                         {point: turn, asked: true},
		"files, while no turn is under way":       {point: turn, atRest: true},
		"committed files":                         {point: turn, atRest: true, later: true, asked: true},
		"a point with only transcripts":           {point: stored},
		"only the transcripts":                    {point: stored, opts: rewindOptions{logsOnly: true}},
		"the branch is reset":                     {point: stored, opts: rewindOptions{reset: true}, asked: true},
		"the branch is reset, no turn is running": {point: stored, opts: rewindOptions{reset: true}, atRest: true},
		"only the transcripts, at a turn's point": {point: turn, opts: rewindOptions{logsOnly: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := s.Path(name)
			s.Git(s.Path("."), "clone", "-q", dir, at)
			if c.later {
				s.Write(at, "a", "later\n")
				s.Git(at, "commit", "-qam", "later")
			}
			repo := s.Open(at)
			state := &session.State{ID: "7124b161-4779-48f0-ba98-8193ecac02db", Phase: session.Active, WorktreePath: repo.Root}
			if c.atRest {
				state.Phase = session.Idle
			}
			if err := session.Open(repo.CommonDir).Save(state); err != nil {
				t.Fatal(err)
			}
			w := &workspace.Workspace{
				Repo: repo, Sessions: session.Open(repo.CommonDir), Log: slog.New(slog.DiscardHandler),
				Env: workspace.Environment{Getenv: func(string) string { return "" }, Now: time.Now},
			}
			r := &rewinding{App: &app.App{Env: app.Env{Now: time.Now}}, repo: repo, w: w, opts: c.opts}
			q, err := r.questionAbout(t.Context(), c.point)
			if err != nil || (len(q.Options) > 0) != c.asked {
				t.Errorf("asked %v, %v; want %v", q.Options, err, c.asked)
			}
		})
	}
}
