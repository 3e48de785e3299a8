package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

func TestConcurrentUpdatesLoseNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "plain")
	rounds := testkit.Rounds(8, 40)
	done := make([][]checkpoint.ID, 2)
	var wg sync.WaitGroup
	for w := range done {
		mine := &fixture{Repo: f.Repo, git: open(t, f.Repo)}
		wg.Go(func() {
			for i := range rounds {
				id := checkpoint.ID(fmt.Sprintf("%02x%02x00000000", i, w))
				err := checkpoint.Update(t.Context(), mine.git, checkpoint.BranchesFirst, author(), []checkpoint.Change{put(mine, id, checkpoint.Slot{Meta: meta("s")})}, nil)
				switch {
				case err == nil:
					done[w] = append(done[w], id)
				case !errors.Is(err, git.ErrRefMoved) && !errors.Is(err, git.ErrRefLocked):
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	written := len(done[0]) + len(done[1])
	if written == 0 {
		t.Fatal("nobody succeeded")
	}
	t.Logf("%d of %d", written, 2*rounds)
	if n := f.Git("rev-list", "--count", checkpoint.MetadataBranch); n != strconv.Itoa(written+1) {
		t.Errorf("%s commits for %d updates", n, written)
	}
	for _, id := range append(done[0], done[1]...) {
		if c := f.read(t, id); len(c.Sessions) != 1 {
			t.Errorf("%s has %d sessions", id, len(c.Sessions))
		}
	}
	f.fsck(t)
}

func TestUpdateContinuesOriginBranch(t *testing.T) {
	t.Parallel()
	origin := newFixture(t, "plain")
	theirs := origin.update(t, put(origin, idB, checkpoint.Slot{Meta: meta("s1")}))
	origin.Git("clone", "-q", ".", "../clone")
	repo := origin.At("../clone")
	f := &fixture{Repo: repo, git: open(t, repo)}
	f.read(t, idB)
	ours := f.update(t, put(f, idA, checkpoint.Slot{Meta: meta("s2")}))
	if parent := f.Git("rev-parse", string(ours)+"^"); parent != string(theirs) {
		t.Errorf("the parent is %s, want %s", parent, theirs)
	}
	f.read(t, idA)
	f.read(t, idB)
}

func TestUpdateCommitsEachChange(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "plain")
	same := checkpoint.Change{ID: "0123456789ab", Next: func(_ context.Context, at checkpoint.Present) (git.OID, string, error) { return at.Dir, "none\n", nil }}
	if tip := f.update(t, same); tip != "" {
		t.Errorf("the branch was made for nothing: %s", tip)
	}
	tip := f.update(t, put(f, idA, checkpoint.Slot{Meta: meta("s1")}), same, put(f, idB, checkpoint.Slot{Meta: meta("s1")}))
	subjects := f.Git("log", "--format=%s", string(tip))
	want := "Checkpoint: ab0000000000\nCheckpoint: abcdef123456\nInitialize metadata branch"
	if diff := cmp.Diff(want, subjects); diff != "" {
		t.Error(diff)
	}
	if again := f.update(t, same); again != tip {
		t.Errorf("%s, want %s", again, tip)
	}
	broken := errors.New("broken")
	err := checkpoint.Update(t.Context(), f.git, checkpoint.BranchesFirst, author(), []checkpoint.Change{
		put(f, "000000000000", checkpoint.Slot{Meta: meta("s1")}),
		{ID: idA, Next: func(context.Context, checkpoint.Present) (git.OID, string, error) { return "", "", broken }},
	}, nil)
	if !errors.Is(err, broken) || f.Git("rev-parse", checkpoint.MetadataBranch) != string(tip) {
		t.Error(err)
	}
}

func TestUpdateMovesOtherRefsInTheSameTransaction(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "plain")
	head := git.OID(f.Git("rev-parse", "HEAD"))
	shadow := checkpoint.ShadowBranch(head, "")
	extra := []git.RefChange{{Name: shadow, New: head}}
	calls := 0
	change := checkpoint.Change{ID: idA, Next: func(ctx context.Context, at checkpoint.Present) (git.OID, string, error) {
		calls++
		return put(f, idA, checkpoint.Slot{Meta: meta(fmt.Sprint("s", calls))}).Next(ctx, at)
	}}
	update := func(changes []checkpoint.Change, extra []git.RefChange) error {
		return checkpoint.Update(t.Context(), f.git, checkpoint.BranchesFirst, author(), changes, extra)
	}
	must(t, update([]checkpoint.Change{change}, extra))
	tip := f.Git("rev-parse", checkpoint.MetadataBranch)
	if f.Git("rev-parse", shadow) != string(head) {
		t.Error("not both")
	}
	// The shadow branch exists now: neither ref moves, without a retry.
	err := update([]checkpoint.Change{change}, extra)
	if !errors.Is(err, git.ErrRefMoved) || f.Git("rev-parse", checkpoint.MetadataBranch) != tip || calls != 2 {
		t.Errorf("%d calls, %v", calls, err)
	}
	must(t, update(nil, []git.RefChange{{Name: shadow, Old: head}}))
	if f.TryGit("rev-parse", "-q", "--verify", shadow).Code == 0 {
		t.Error("the shadow branch is left")
	}
}

func TestUpdateRetriesAfterBranchMoved(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "plain")
	other := &fixture{Repo: f.Repo, git: open(t, f.Repo)}
	meddle := func(n int) {
		other.update(t, put(other, checkpoint.ID(fmt.Sprintf("%012x", n)), checkpoint.Slot{Meta: meta("o")}))
	}
	calls := 0
	update := func(ctx context.Context, id checkpoint.ID, before func()) error {
		change := checkpoint.Change{ID: id, Next: func(ctx context.Context, at checkpoint.Present) (git.OID, string, error) {
			before()
			return put(f, id, checkpoint.Slot{Meta: meta("s")}).Next(ctx, at)
		}}
		return checkpoint.Update(ctx, f.git, checkpoint.BranchesFirst, author(), []checkpoint.Change{change}, nil)
	}
	must(t, update(t.Context(), idA, func() {
		if calls++; calls < 4 {
			meddle(calls)
		}
	}))
	if n := f.Git("rev-list", "--count", checkpoint.MetadataBranch); calls != 4 || n != "5" {
		t.Errorf("%d calls, %s commits", calls, n)
	}
	calls = -100
	ctx, cancel := context.WithCancel(t.Context())
	err := update(ctx, idB, func() {
		calls++
		meddle(1000 + calls)
		if calls == -95 {
			cancel()
		}
	})
	if err == nil || calls > -94 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// TestUpdateIsCheap: a commit on the metadata branch takes one process that reads and one that
// moves the refs, and writes only the trees on the path.
func TestUpdateIsCheap(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "plain")
	changes := make([]checkpoint.Change, 0, 50)
	for i := range 50 {
		changes = append(changes, put(f, checkpoint.ID(fmt.Sprintf("%02x0000000000", i)), checkpoint.Slot{Meta: meta("s1")}))
	}
	f.update(t, changes...)
	f.git = open(t, f.Repo)
	before := countObjects(t, f)
	f.update(t, put(f, idA, checkpoint.Slot{Meta: meta("s1"), Prompts: []string{"p"}}))
	// Blobs: metadata twice, prompts, context. Trees: slot, checkpoint, ab, root. A commit.
	if n := countObjects(t, f) - before; n > 9 {
		t.Errorf("%d new objects", n)
	}
	if n := f.git.Processes(); n > 2 {
		t.Errorf("%d processes", n)
	}
}

func countObjects(tb testing.TB, f *fixture) int {
	tb.Helper()
	var n int
	_, err := fmt.Sscan(f.Git("count-objects"), &n)
	must(tb, err)
	return n
}

func TestWriteShadow(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"plain", "sha256", "worktree"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, kind)
			head, err := f.git.Commit(t.Context(), "HEAD")
			must(t, err)
			sh := checkpoint.Shadow{Session: "s1", Subject: "One", Prompts: []string{"p"}}
			sh.Transcript = f.transcript(t, "s1", strings.Repeat(jsonLine(1, 1000)+"\n", 600))
			first, _, err := checkpoint.WriteShadow(t.Context(), f.git, checkpoint.Tip{Tree: head.Tree}, nil, sh, author())
			must(t, err)
			if _, ok, err := checkpoint.WriteShadow(t.Context(), f.git, f.tip(t, first), nil, sh, author()); err != nil || ok {
				t.Errorf("a commit of nothing new: %v", err)
			}
			other := checkpoint.Shadow{Session: "s2", Subject: "Two\n\nEntire-Session: forged", Transcript: f.transcript(t, "s2", "{}\n")}
			second, _, err := checkpoint.WriteShadow(t.Context(), f.git, f.tip(t, first), nil, other, author())
			must(t, err)
			sh.Transcript = f.transcript(t, "s1", "{}\n")
			third, _, err := checkpoint.WriteShadow(t.Context(), f.git, f.tip(t, second), nil, sh, author())
			must(t, err)
			carried, err := checkpoint.WriteCarryForward(t.Context(), f.git, f.tip(t, third), nil, checkpoint.Carry{Session: "s1", When: author().When})
			must(t, err)
			if carried != third {
				t.Error("a carry-forward of nothing makes a commit")
			}
			want := strings.Fields("s1/context.md s1/full.jsonl s1/prompt.txt s1/summary.txt s2/context.md s2/full.jsonl s2/prompt.txt s2/summary.txt")
			got := strings.Fields(f.Git("ls-tree", "-r", "--name-only", string(third)+":.entire/metadata"))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if f.Git("show", string(third)+":README.md") != f.Git("show", "HEAD:README.md") {
				t.Error("the files of HEAD are lost")
			}
			if names := f.Git("log", "-1", "--format=%(trailers:key=Entire-Session,valueonly)", string(second)); strings.TrimSpace(names) != "s2" {
				t.Errorf("trailers %q", names)
			}
			must(t, git.UpdateRefs(t.Context(), f.git, "test", []git.RefChange{{Name: checkpoint.ShadowBranch(head.OID, f.git.WorktreeID), New: third}}))
			if _, found, err := checkpoint.TranscriptIn(t.Context(), f.git, git.OID(f.Git("rev-parse", string(third)+":"+checkpoint.MetadataDir("s1")))); !found || err != nil {
				t.Error(err)
			}
			f.fsck(t)
		})
	}
}
