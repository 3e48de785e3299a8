package cleanup_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/cleanup"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// yard is a repository to be tidied.
type yard struct {
	*testing.T
	*testkit.Repo

	w     *workspace.Workspace
	now   time.Time
	clean cleanup.Cleaner
}

func newYard(t *testing.T) *yard {
	t.Helper()
	home := t.TempDir()
	made, _ := testkit.NewRepo(t, t.TempDir(), "plain", testkit.CleanEnv(home, t.TempDir(), os.Getenv("PATH")))
	repo, err := git.Discover(git.Locate{Dir: made.Dir, Environ: made.Env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = repo.Close() })
	y := &yard{T: t, Repo: made, now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	y.w = &workspace.Workspace{
		Repo: repo, Sessions: session.Open(repo.CommonDir), Options: workspace.Options{LockTimeout: time.Minute},
		Env: workspace.Environment{
			Getenv: made.Env.Get, Now: func() time.Time { return y.now }, Home: home,
			Alive: func(pid int, _ uint64) bool { return pid == alive },
		},
		Log: slog.New(slog.DiscardHandler),
	}
	y.clean = cleanup.New(y.w)
	return y
}

// alive is the id of a running process.
const alive = 17

func (y *yard) save(states ...*session.State) {
	y.Helper()
	for _, s := range states {
		if err := y.w.Sessions.Save(s); err != nil {
			y.Fatal(err)
		}
	}
}

func (y *yard) find() []cleanup.Item {
	y.Helper()
	items, err := y.clean.Find(y.Context())
	if err != nil {
		y.Fatal(err)
	}
	return items
}

func (y *yard) remove(items []cleanup.Item) cleanup.Removal {
	y.Helper()
	done, err := y.clean.Remove(y.Context(), items)
	if err != nil {
		y.Fatal(err)
	}
	return done
}

func names(items []cleanup.Item) []string {
	list := make([]string, 0, len(items))
	for _, i := range items {
		list = append(list, string(i.Kind)+" "+i.Name)
	}
	return list
}

func (y *yard) want(got []cleanup.Item, want ...string) {
	y.Helper()
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, names(got)); diff != "" {
		y.Errorf("(-want +got)\n%s", diff)
	}
}

// ago returns a time before now.
func (y *yard) ago(days int) *time.Time {
	at := y.now.AddDate(0, 0, -days)
	return &at
}

func TestOrphanedStates(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(y *yard, s *session.State)
		over   bool
	}{
		"ended long ago":           {func(*yard, *session.State) {}, true},
		"ended not so long ago":    {func(y *yard, s *session.State) { s.EndedAt = y.ago(6) }, false},
		"at work":                  {func(_ *yard, s *session.State) { s.Phase = session.Active }, false},
		"with pending files":       {func(_ *yard, s *session.State) { s.FilesTouched = session.Paths{"a"} }, false},
		"with shadow checkpoints":  {func(_ *yard, s *session.State) { s.CheckpointCount = 1 }, false},
		"with an unfinished turn":  {func(_ *yard, s *session.State) { s.TurnCheckpointIDs = []string{"0123456789ab"} }, false},
		"incomplete":               {func(_ *yard, s *session.State) { s.Recorder.Incomplete = []string{"0123456789ab"} }, false},
		"heard of since it ended":  {func(y *yard, s *session.State) { s.LastInteraction = y.ago(1) }, false},
		"idle for weeks":           {func(y *yard, s *session.State) { idle(s, y.ago(20)) }, false},
		"idle for long":            {func(y *yard, s *session.State) { idle(s, y.ago(31)) }, true},
		"idle for long, but alive": {func(y *yard, s *session.State) { idle(s, y.ago(31)); s.Recorder.Agent.PID = alive }, false},
		"idle for long, and dead":  {func(y *yard, s *session.State) { idle(s, y.ago(31)); s.Recorder.Agent.PID = alive + 1 }, true},
		"last of its worktree":     {func(_ *yard, s *session.State) { s.WorktreePath = "/elsewhere" }, false},
		"with its shadow branch": {func(y *yard, s *session.State) {
			s.BaseCommit = y.Git("rev-parse", "HEAD")
			y.Git("branch", shadowOf(s))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			s := &session.State{
				ID: "old", Phase: session.Ended, StartedAt: *y.ago(90), EndedAt: y.ago(80), BaseCommit: strings.Repeat("1", 40), WorktreePath: y.Root(),
			}
			tc.change(y, s)
			y.save(s, &session.State{ID: "last", StartedAt: *y.ago(0), WorktreePath: y.Root()})
			var want []string
			if tc.over {
				want = []string{"session-state old"}
			}
			y.want(y.find(), want...)
		})
	}
}

func idle(s *session.State, since *time.Time) {
	s.Phase, s.EndedAt, s.LastInteraction = session.Idle, nil, since
}

func shadowOf(s *session.State) string {
	return strings.TrimPrefix(checkpoint.ShadowBranch(git.OID(s.BaseCommit), s.WorktreeID), "refs/heads/")
}

// orphan creates a shadow branch that is no longer needed, and returns the commit that it is
// named after.
func (y *yard) orphan() (base string) {
	y.Helper()
	base = y.Git("rev-parse", "HEAD")
	y.Git("commit", "-q", "--allow-empty", "-m", "HEAD moves on")
	y.Git("branch", shadowOf(&session.State{BaseCommit: base}))
	return base
}

func TestNewSessionKeepsBranch(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	base := y.orphan()
	items := y.find()
	branch := "shadow-branch " + shadowOf(&session.State{BaseCommit: base})
	y.want(items, branch)
	y.save(&session.State{ID: "new", BaseCommit: base, Phase: session.Active, WorktreePath: y.Root(), StartedAt: y.now})
	done := y.remove(items)
	y.want(done.Removed)
	y.want(done.Kept, branch)
	y.Git("rev-parse", "-q", "--verify", shadowOf(&session.State{BaseCommit: base}))
}

func TestResumedSessionKeepsState(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	s := &session.State{ID: "old", Phase: session.Ended, StartedAt: *y.ago(90), EndedAt: y.ago(80)}
	y.save(s, &session.State{ID: "last", StartedAt: y.now})
	items := y.find()
	y.want(items, "session-state old")
	idle(s, &y.now)
	y.save(s)
	y.want(y.remove(items).Kept, "session-state old")
}

func TestOldNamesOfShadowBranches(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	base := y.Git("rev-parse", "HEAD")
	y.Git("commit", "-q", "--allow-empty", "-m", "HEAD moves on")
	y.Git("branch", "entire/"+base[:7])
	y.Git("branch", "entire/"+base[:12])
	y.save(&session.State{ID: "s", BaseCommit: base, WorktreeID: "any", FilesTouched: session.Paths{"a"}, StartedAt: y.now})
	y.want(y.find())
	if err := y.w.Sessions.Remove("s"); err != nil {
		t.Fatal(err)
	}
	y.want(y.find(), "shadow-branch entire/"+base[:7], "shadow-branch entire/"+base[:12])
}

func TestUnbornBranchKeepsItsShadow(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	zeros := "entire/0000000-e3b0c4"
	y.Git("branch", zeros)
	y.want(y.find(), "shadow-branch "+zeros)
	y.Git("symbolic-ref", "HEAD", "refs/heads/unborn")
	y.want(y.find())
}

func TestRescuesWithoutSnapshotStayAMonth(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	name := func(days int) string {
		return fmt.Sprintf("%se3b0c4-%d", checkpoint.HeldRefs, y.ago(days).UnixNano())
	}
	y.Git("update-ref", name(31), "HEAD")
	y.Git("update-ref", name(29), "HEAD")
	y.Git("update-ref", checkpoint.HeldRefs+"e3b0c4-v7", "HEAD")
	y.want(y.find(), "rescue-ref "+name(31), "rescue-ref "+checkpoint.HeldRefs+"e3b0c4-v7")
}

func TestResetRefusesOutdatedPlan(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	s := &session.State{ID: "s", BaseCommit: y.Git("rev-parse", "HEAD"), WorktreePath: y.Root(), StartedAt: y.now, FilesTouched: session.Paths{"a"}}
	y.save(s)
	plan, err := y.clean.PlanReset(t.Context(), "")
	if err != nil || len(plan.Sessions) != 1 || len(plan.AtWork) != 0 {
		t.Fatalf("%+v, %v", plan, err)
	}
	s.Phase = session.Active
	y.save(s)
	if _, err := y.clean.Reset(t.Context(), plan); !errors.Is(err, cleanup.ErrMeanwhile) {
		t.Errorf("reset under a session at work: %v", err)
	}
	if _, err := y.w.Sessions.Load("s"); err != nil {
		t.Error(err)
	}
}
