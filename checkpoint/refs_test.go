package checkpoint_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
)

func TestULID(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1469918176385)
	id, err := checkpoint.NewULID(at, bytes.NewReader([]byte{0xd6, 0x76, 0x4c, 0x61, 0xef, 0xb9, 0x93, 0x02, 0xbd, 0x5b}))
	must(t, err)
	if got, ok := id.Time(); id != "01ARYZ6S41TSV4RRFFQ69G5FAV" || !ok || !got.Equal(at) {
		t.Errorf("%s %v", id, got)
	}
	if want := "refs/entire/checkpoints/AV/01ARYZ6S41TSV4RRFFQ69G5FAV"; id.Ref() != want {
		t.Errorf("%s", id.Ref())
	}
	if _, err := checkpoint.NewULID(at, strings.NewReader("short")); err == nil {
		t.Error("an id of too few bytes")
	}
	for _, bad := range []string{"01aryz6s41tsv4rrffq69g5fav", "81ARYZ6S41TSV4RRFFQ69G5FAV", "01ARYZ6S41TSV4RRFFQ69G5FAI", "01ARYZ6S41TSV4RRFFQ69G5FA", "01ARYZ6S41TSV4RRFFQ69G5FAVV"} {
		if _, err := checkpoint.ParseID(bad); !errors.Is(err, checkpoint.ErrInvalid) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	names := map[string]checkpoint.ID{
		"refs/entire/checkpoints/AV/01ARYZ6S41TSV4RRFFQ69G5FAV":   "01ARYZ6S41TSV4RRFFQ69G5FAV",
		"refs/entire/checkpoints/56/abcdef123456":                 "abcdef123456",
		"refs/entire/checkpoints/ab/abcdef123456":                 "",
		"refs/entire/checkpoints/56/abcdef123456/x":               "",
		"refs/entire/checkpoints/x/56/abcdef123456":               "",
		"refs/entire/checkpoints/abcdef123456":                    "",
		"refs/entire/checkpoints/v1.1":                            "",
		"refs/heads/entire/checkpoints/56/abcdef123456":           "",
		"refs/entire/checkpoints/AV/01ARYZ6S41TSV4RRFFQ69G5FAV\n": "",
	}
	for name, want := range names {
		if got, ok := checkpoint.ParseRef(name); got != want || ok != (want != "") {
			t.Errorf("%q: %q", name, got)
		}
	}
	prefixes := map[string]string{"01ar": "01AR", "01AR": "01AR", "abc": "abc", "": "", "0123456789ab": "0123456789ab"}
	for typed, want := range prefixes {
		if got, ok := checkpoint.Prefix(typed); got != want || !ok {
			t.Errorf("%q: %q", typed, got)
		}
	}
	for _, typed := range []string{"HEAD", "main", "01ARYZ6S41TSV4RRFFQ69G5FAVV", "é", "..", "ab/c"} {
		if got, ok := checkpoint.Prefix(typed); ok {
			t.Errorf("%q is taken for %q", typed, got)
		}
	}
}

// A checkpoint is changed where it is read: a ULID in its ref, hex digits on the branch, or in the ref that
// has them, by the order.
func TestUpdateWhereACheckpointIs(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"plain", "sha256", "reftable", "worktree"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, kind)
			const ulid, moved = checkpoint.ID("01ARYZ6S41TSV4RRFFQ69G5FAV"), checkpoint.ID("00000000abcd")
			update := func(order checkpoint.Order, changes ...checkpoint.Change) {
				t.Helper()
				must(t, checkpoint.Update(t.Context(), f.git, order, author(), changes, nil))
			}
			update(checkpoint.RefsFirst, put(f, ulid, checkpoint.Slot{Meta: meta("s1")}), put(f, ulid, checkpoint.Slot{Meta: meta("s2")}))
			if n := f.Git("rev-list", "--count", ulid.Ref()); n != "2" {
				t.Errorf("%s commits of two changes", n)
			}
			if f.TryGit("rev-parse", "-q", "--verify", checkpoint.MetadataBranch).Code == 0 {
				t.Error("there is a branch")
			}
			update(checkpoint.RefsFirst, put(f, moved, checkpoint.Slot{Meta: meta("s1")})) // new, so on the branch
			copied := f.Git("commit-tree", "-m", "Checkpoint: "+string(moved), checkpoint.MetadataBranch+":"+moved.Dir())
			f.Git("update-ref", moved.Ref(), copied)
			update(checkpoint.BranchesFirst, put(f, moved, checkpoint.Slot{Meta: meta("on the branch")}))
			update(checkpoint.RefsFirst, put(f, moved, checkpoint.Slot{Meta: meta("in the ref")}))
			for order, want := range map[checkpoint.Order]string{checkpoint.BranchesFirst: "on the branch", checkpoint.RefsFirst: "in the ref"} {
				records, err := checkpoint.Open(t.Context(), f.git, order)
				must(t, err)
				c, err := records.Read(t.Context(), moved)
				must(t, err)
				if got := bySlot(c)[1].Meta.SessionID; got != want {
					t.Errorf("%q is read, not %q", got, want)
				}
				list, err := records.List(t.Context())
				must(t, err)
				ids, err := records.Find(t.Context(), "")
				must(t, err)
				if len(list) != 2 || !slices.Equal(ids, []checkpoint.ID{moved, ulid}) || !list[1].InRef || list[0].InRef != (order == checkpoint.RefsFirst) {
					t.Errorf("%+v %v", list, ids)
				}
			}
			queued, err := checkpoint.Queued(f.git.CommonDir)
			must(t, err)
			if diff := cmp.Diff([]string{ulid.Ref(), moved.Ref()}, queued); diff != "" {
				t.Error(diff)
			}
			update(checkpoint.RefsFirst, checkpoint.Change{ID: ulid, Next: func(context.Context, checkpoint.Present) (git.OID, string, error) { return "", "", nil }})
			if f.TryGit("rev-parse", "-q", "--verify", ulid.Ref()).Code == 0 {
				t.Error("a removed checkpoint has a ref")
			}
			f.fsck(t)
		})
	}
}

// The queue keeps what was added while a push ran, and survives a line that a killed process left.
func TestQueue(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b, c := checkpoint.ID("00000000000a").Ref(), checkpoint.ID("00000000000b").Ref(), checkpoint.ID("00000000000c").Ref()
	must(t, checkpoint.Enqueue(t.Context(), dir, a, b, a))
	must(t, checkpoint.Enqueue(t.Context(), dir, b))
	file, err := os.OpenFile(checkpoint.QueuePath(dir), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = file.WriteString(`{"ref":"refs/heads/main"}` + "\n" + `{"ref":"refs/ent`)
	must(t, errors.Join(err, file.Close()))
	held, err := disk.AcquireLock(t.Context(), checkpoint.QueueLockPath(dir))
	must(t, err)
	must(t, errors.Join(checkpoint.Enqueue(t.Context(), dir, c), held.Unlock())) // after a second, without the lock
	left, err := checkpoint.Dequeue(t.Context(), dir, []string{b}, func(ref string) bool { return ref == a })
	must(t, err)
	queued, err := checkpoint.Queued(dir)
	must(t, err)
	if diff := cmp.Diff([]string{c, b}, queued); diff != "" || left != 2 {
		t.Errorf("%d left: %s", left, diff)
	}
	data, err := os.ReadFile(checkpoint.QueuePath(dir))
	must(t, err)
	if want := `{"ref":"` + c + `"}` + "\n" + `{"ref":"` + b + `"}` + "\n"; string(data) != want {
		t.Errorf("%s", data)
	}
}

// Both sides of a ref are kept, without a merge commit.
func TestMergeRef(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "plain")
	const id = checkpoint.ID("01ARYZ6S41TSV4RRFFQ69G5FAV")
	write := func(session string) git.OID {
		t.Helper()
		must(t, checkpoint.Update(t.Context(), f.git, checkpoint.RefsFirst, author(), []checkpoint.Change{put(f, id, checkpoint.Slot{Meta: meta(session)})}, nil))
		return git.OID(f.Git("rev-parse", id.Ref()))
	}
	base := write("base")
	ours := write("ours")
	f.Git("update-ref", id.Ref(), string(base))
	theirs := write("theirs")
	merged, err := checkpoint.MergeRef(t.Context(), f.git, id, ours, theirs)
	must(t, errors.Join(err, git.UpdateRefs(t.Context(), f.git, "test", []git.RefChange{{Name: id.Ref(), New: merged, Old: theirs}})))
	c, err := checkpoint.RefSource(f.git).Read(t.Context(), id)
	must(t, err)
	sessions := make([]string, 0, len(c.Sessions))
	for _, s := range bySlot(c) {
		sessions = append(sessions, s.Meta.SessionID)
	}
	slices.Sort(sessions)
	if diff := cmp.Diff([]string{"base", "ours", "theirs"}, sessions); diff != "" {
		t.Error(diff)
	}
	if parents := f.Git("log", "-1", "--format=%P", string(merged)); parents != string(theirs) {
		t.Errorf("parents %s", parents)
	}
	for _, pair := range [][3]git.OID{{base, theirs, theirs}, {theirs, base, theirs}, {ours, ours, ours}} {
		if got, err := checkpoint.MergeRef(t.Context(), f.git, id, pair[0], pair[1]); err != nil || got != pair[2] {
			t.Errorf("%v: %s, %v", pair, got, err)
		}
	}
}
