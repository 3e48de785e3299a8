package checkpoint_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
)

// imported returns the change that adds a session, begun at a time, to an imported checkpoint.
func imported(f *fixture, id checkpoint.ID, session string, started time.Time) checkpoint.Change {
	change := put(f, id, checkpoint.Slot{Meta: meta(session)})
	next := change.Next
	change.Imported = true
	change.Next = func(ctx context.Context, at checkpoint.Present) (git.OID, string, error) {
		dir, _, err := next(ctx, at)
		return dir, checkpoint.ImportedMessage(id, meta(session), started), err
	}
	return change
}

// A new imported checkpoint is added to its own ref, and read last; one that is somewhere else is changed
// there.
func TestImportedCheckpointsAreOnTheirOwnRef(t *testing.T) {
	t.Parallel()
	const one, two, live = checkpoint.ID("00000000000a"), checkpoint.ID("00000000000b"), checkpoint.ID("00000000000c")
	for _, kind := range []string{"plain", "sha256", "reftable", "worktree"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, kind)
			exists := func(ref string) bool { return f.TryGit("rev-parse", "-q", "--verify", ref).Code == 0 }
			for _, order := range []checkpoint.Order{checkpoint.BranchesFirst, checkpoint.RefsFirst} {
				changes := []checkpoint.Change{imported(f, one, "s1", time.Time{}), imported(f, two, "s2", time.Time{})}
				must(t, checkpoint.Update(t.Context(), f.git, order, author(), changes, nil))
			}
			if n := f.Git("rev-list", "--count", checkpoint.ImportedRef); n != "2" { // the second run changes nothing
				t.Errorf("%s commits of two checkpoints", n)
			}
			if exists(checkpoint.MetadataBranch) || exists(one.Ref()) {
				t.Error("an imported checkpoint is not on its own ref")
			}
			records, err := checkpoint.Open(t.Context(), f.git, checkpoint.BranchesFirst)
			must(t, err)
			if empty, err := records.Empty(t.Context()); err != nil || !empty {
				t.Errorf("the records are not empty without those of this clone: %v", err)
			}
			// A live checkpoint is on the branch; a slot is added to the imported one where it is.
			must(t, checkpoint.Update(t.Context(), f.git, checkpoint.BranchesFirst, author(), []checkpoint.Change{
				put(f, live, checkpoint.Slot{Meta: meta("s3")}), put(f, one, checkpoint.Slot{Meta: meta("s4")}),
			}, nil))
			// Both have the checkpoint: the branch is read, and changed.
			tree, err := f.putIn(t, git.OID(f.Git("rev-parse", checkpoint.MetadataBranch+"^{tree}")), two, checkpoint.Slot{Meta: meta("on the branch")}, checkpoint.SummaryInfo{})
			must(t, errors.Join(err, f.git.SyncObjects()))
			f.Git("update-ref", checkpoint.MetadataBranch, f.Git("commit-tree", "-p", checkpoint.MetadataBranch, "-m", "x", string(tree)))
			before := f.Git("rev-parse", checkpoint.ImportedRef)
			must(t, checkpoint.Update(t.Context(), f.git, checkpoint.BranchesFirst, author(), []checkpoint.Change{imported(f, two, "s5", time.Time{})}, nil))
			if f.Git("rev-parse", checkpoint.ImportedRef) != before {
				t.Error("a checkpoint of the branch was changed elsewhere")
			}
			for _, open := range []func(context.Context, *git.Repo, checkpoint.Order) (checkpoint.Records, error){checkpoint.Open, checkpoint.OpenLocal} {
				records, err := open(t.Context(), f.git, checkpoint.RefsFirst)
				must(t, err)
				list, err := records.List(t.Context())
				must(t, err)
				got := map[checkpoint.ID]bool{}
				for _, c := range list {
					got[c.ID] = c.Imported
				}
				if diff := cmp.Diff(map[checkpoint.ID]bool{one: true, two: false, live: false}, got); diff != "" {
					t.Error(diff)
				}
				c, err := records.Read(t.Context(), one)
				if err != nil || len(c.Sessions) != 2 {
					t.Errorf("%d sessions, %v", len(c.Sessions), err)
				}
			}
			f.fsck(t)
		})
	}
}

// A change of an imported checkpoint moves its ref by compare-and-swap, together with the extra refs.
func TestImportedRefMovesWithTheExtraRefs(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "plain")
	f.Git("commit", "-q", "--allow-empty", "-m", "x")
	head := git.OID(f.Git("rev-parse", "HEAD"))
	change, err := git.NotesChange(t.Context(), f.git, git.ImportedNotesRef, author(), map[git.OID]string{head: checkpoint.ImportedText([]checkpoint.ID{"00000000000a"})})
	must(t, err)
	stale := change
	stale.Old = head
	if err := checkpoint.Update(t.Context(), f.git, checkpoint.BranchesFirst, author(), []checkpoint.Change{imported(f, "00000000000a", "s", time.Time{})}, []git.RefChange{stale}); !errors.Is(err, git.ErrRefMoved) {
		t.Errorf("the error is %v", err)
	}
	if f.TryGit("rev-parse", "-q", "--verify", checkpoint.ImportedRef).Code == 0 {
		t.Error("one ref was moved alone")
	}
	must(t, checkpoint.Update(t.Context(), f.git, checkpoint.BranchesFirst, author(), []checkpoint.Change{imported(f, "00000000000a", "s", time.Time{})}, []git.RefChange{change}))
	f.git.Notes.Reset()
	c, err := f.git.Commit(t.Context(), "HEAD")
	must(t, err)
	if !checkpoint.IsImported(c) || !checkpoint.IsDerived(c) || len(checkpoint.IDsOf(c)) != 1 {
		t.Errorf("the note is %q", c.Note)
	}
}

// The first record includes the beginning of every imported session, wherever its checkpoint is, also after
// its content was forgotten.
func TestFirstRecordIncludesImportedSessions(t *testing.T) {
	t.Parallel()
	const id = checkpoint.ID("00000000000a")
	started := time.Date(2025, 3, 1, 10, 0, 0, 0, time.UTC)
	f := newFixture(t, "plain")
	for i, at := range []time.Time{started.Add(time.Hour), started, started.Add(2 * time.Hour)} {
		must(t, checkpoint.Update(t.Context(), f.git, checkpoint.BranchesFirst, author(), []checkpoint.Change{imported(f, checkpoint.ID("00000000000"+string(rune('a'+i))), "s", at)}, nil))
	}
	first, err := checkpoint.FirstImported(t.Context(), f.git)
	if err != nil || !first.Equal(started) {
		t.Errorf("the first imported session began at %s, %v", first, err)
	}
	if _, found, err := checkpoint.FirstRecord(t.Context(), f.git, nil); err != nil || found {
		t.Errorf("there is a record on no branch: %v", err)
	}
	f.Git("update-ref", checkpoint.MetadataBranch, checkpoint.ImportedRef) // as after it was shared
	if first, found, err := checkpoint.FirstRecord(t.Context(), f.git, nil); err != nil || !found || !first.Equal(started) {
		t.Errorf("the first record is of %s, %v", first, err)
	}
	w := checkpoint.Rewriting{Repo: f.git, Forgotten: checkpoint.Forgotten{Sessions: []string{"s"}}}
	next, err := w.Metadata(t.Context(), git.OID(f.Git("rev-parse", checkpoint.ImportedRef)))
	must(t, err)
	must(t, f.git.SyncObjects())
	f.Git("update-ref", checkpoint.ImportedRef, string(next))
	if first, err := checkpoint.FirstImported(t.Context(), f.git); err != nil || !first.Equal(started) {
		t.Errorf("the forgotten session began at %s, %v", first, err)
	}
	f.Git("update-ref", "-d", checkpoint.MetadataBranch)
	f.Git("update-ref", "-d", checkpoint.ImportedRef)
	tree := f.Git("rev-parse", string(next)+":"+id.Dir())
	f.Git("update-ref", id.Ref(), f.Git("commit-tree", "-m", checkpoint.ImportedMessage(id, meta("s"), started), tree))
	if first, found, err := checkpoint.FirstOfRefs(t.Context(), f.git); err != nil || !found || !first.Equal(started) {
		t.Errorf("the first record in refs is of %s, %v", first, err)
	}
}

// Shared checkpoints are where new ones go, with the sessions of a checkpoint that is there already, and
// nothing else moves if one of the refs has moved.
func TestShare(t *testing.T) {
	t.Parallel()
	const both, only, gone = checkpoint.ID("00000000000a"), checkpoint.ID("00000000000b"), checkpoint.ID("00000000000c")
	for name, order := range map[string]checkpoint.Order{"branch": checkpoint.BranchesFirst, "refs": checkpoint.RefsFirst} {
		for _, place := range []string{"nowhere", "branch", "ref"} {
			t.Run(name+", one is already in: "+place, func(t *testing.T) {
				t.Parallel()
				f := newFixture(t, "plain")
				started := time.Date(2025, 3, 1, 10, 0, 0, 0, time.UTC)
				must(t, checkpoint.Update(t.Context(), f.git, order, author(), []checkpoint.Change{
					imported(f, both, "s1", started), imported(f, only, "s1", started), imported(f, only, "s2", started), imported(f, gone, "forgotten", started),
				}, nil))
				tip := git.OID(f.Git("rev-parse", checkpoint.ImportedRef))
				want := []string{"s1"}
				if place != "nowhere" {
					want = append(want, "there")
					tree, err := f.putIn(t, "", both, checkpoint.Slot{Meta: meta("there")}, checkpoint.SummaryInfo{})
					must(t, errors.Join(err, f.git.SyncObjects()))
					if place == "ref" {
						f.Git("update-ref", both.Ref(), f.Git("commit-tree", "-m", "Checkpoint: "+string(both), string(tree)+":"+both.Dir()))
					} else {
						f.Git("update-ref", checkpoint.MetadataBranch, f.Git("commit-tree", "-m", "x", string(tree)))
					}
				}
				w := func() *checkpoint.Rewriting {
					return &checkpoint.Rewriting{Repo: f.git, Forgotten: checkpoint.Forgotten{Sessions: []string{"forgotten"}}}
				}
				stale := []git.RefChange{{Name: git.ImportedNotesRef, Old: tip}}
				if _, err := checkpoint.Share(t.Context(), w(), order, author(), stale); !errors.Is(err, git.ErrRefMoved) {
					t.Errorf("the error of a moved ref is %v", err)
				}
				if f.Git("rev-parse", checkpoint.ImportedRef) != string(tip) {
					t.Error("one ref was moved alone")
				}
				n, err := checkpoint.Share(t.Context(), w(), order, author(), nil)
				if err != nil || n != 3 {
					t.Fatalf("%d shared, %v", n, err)
				}
				if f.TryGit("rev-parse", "-q", "--verify", checkpoint.ImportedRef).Code == 0 {
					t.Error("the ref is still there")
				}
				records, err := checkpoint.Open(t.Context(), f.git, order)
				must(t, err)
				sessions := func(id checkpoint.ID) []string {
					t.Helper()
					at, err := records.Locate(t.Context(), id)
					must(t, err)
					// A copy in a ref stays, where the branch is read first.
					if wantRef := order == checkpoint.RefsFirst; at.InRef != wantRef || at.Imported {
						t.Errorf("%s is at the wrong place: %+v", id, at)
					}
					c, err := records.Read(t.Context(), id)
					must(t, err)
					var names []string
					for i, s := range bySlot(c) {
						names = append(names, s.Meta.SessionID)
						if root := map[bool]string{true: "/", false: "/" + id.Dir() + "/"}[at.InRef]; c.Summary.Sessions[i].Metadata != root+strconv.Itoa(s.Index)+"/metadata.json" {
							t.Errorf("the summary of %s has %s", id, c.Summary.Sessions[i].Metadata)
						}
					}
					slices.Sort(names)
					return names
				}
				if name == "branch" && place == "ref" { // the branch is read first; the ref keeps its own
					want = []string{"s1"}
				}
				if diff := cmp.Diff(want, sessions(both)); diff != "" {
					t.Error(diff)
				}
				if diff := cmp.Diff([]string{"s1", "s2"}, sessions(only)); diff != "" {
					t.Error(diff)
				}
				if c, err := records.Read(t.Context(), gone); err != nil || !c.Summary.Forgotten || len(c.Sessions) > 0 {
					t.Errorf("a forgotten session is shared: %+v, %v", c, err)
				}
				again, err := checkpoint.Share(t.Context(), w(), order, author(), nil)
				if err != nil || again != 0 {
					t.Errorf("%d shared again, %v", again, err)
				}
				f.fsck(t)
			})
		}
	}
}
