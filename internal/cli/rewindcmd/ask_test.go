package rewindcmd

import (
	"testing"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/points"
)

// A rewind during a turn asks first, because the agent doesn't notice that files change. A rewind
// that restores only transcripts doesn't ask.
func TestRewindAsksOnlyIfFilesChange(t *testing.T) {
	t.Parallel()
	repo := &git.Repo{Root: t.TempDir(), CommonDir: t.TempDir()}
	state := &session.State{ID: "7124b161-4779-48f0-ba98-8193ecac02db", Phase: session.Active, WorktreePath: repo.Root}
	if err := session.Open(repo.CommonDir).Save(state); err != nil {
		t.Fatal(err)
	}
	turn := points.Point{ID: "1a2b3c4", Shadow: "1a2b3c4"}
	stored := points.Point{ID: "1a2b3c5", Commit: "1a2b3c5", Checkpoint: checkpoint.ID("a1b2c3d4e5f6")}
	for name, c := range map[string]struct {
		point points.Point
		opts  rewindOptions
		asked bool
	}{
		"files of a turn":                         {point: turn, asked: true},
		"a point with only transcripts":           {point: stored},
		"only the transcripts":                    {point: stored, opts: rewindOptions{logsOnly: true}},
		"the branch is reset":                     {point: stored, opts: rewindOptions{reset: true}, asked: true},
		"only the transcripts, at a turn's point": {point: turn, opts: rewindOptions{logsOnly: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &rewinding{App: &app.App{}, repo: repo, opts: c.opts}
			q, err := r.questionAbout(t.Context(), c.point)
			if err != nil || (len(q.Options) > 0) != c.asked {
				t.Errorf("asked %v, %v; want %v", q.Options, err, c.asked)
			}
		})
	}
}
