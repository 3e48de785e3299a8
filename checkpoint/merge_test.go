package checkpoint_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
)

const (
	idOne   = checkpoint.ID("aa0000000001")
	idTwo   = checkpoint.ID("aa0000000002")
	idThree = checkpoint.ID("cc0000000003")
)

// mergeFixture builds trees of the metadata branch and merges them.
type mergeFixture struct {
	*fixture
	tb testing.TB
}

func newMergeFixture(tb testing.TB) *mergeFixture {
	return &mergeFixture{newFixture(tb, "plain"), tb}
}

// edit makes a new tree from a tree.
type edit func(tree git.OID) git.OID

// put stores a session with a transcript of that number of lines.
func (f *mergeFixture) put(id checkpoint.ID, session string, lines int, more ...func(*checkpoint.SessionMeta)) edit {
	return func(tree git.OID) git.OID {
		f.tb.Helper()
		slot := checkpoint.Slot{
			Meta: checkpoint.SessionMeta{
				SessionID: session, Strategy: checkpoint.ManualCommit, CheckpointsCount: 1,
				FilesTouched: []string{session + ".txt"}, TranscriptLines: lines,
			},
			Transcript: f.stored(session, lines),
		}
		for _, m := range more {
			m(&slot.Meta)
		}
		next, err := f.putIn(f.tb, tree, id, slot, checkpoint.SummaryInfo{Strategy: checkpoint.ManualCommit})
		must(f.tb, err)
		return next
	}
}

// stored returns a transcript of one segment.
func (f *mergeFixture) stored(session string, lines int) checkpoint.StoredTranscript {
	f.tb.Helper()
	oid, err := f.git.WriteBlob([]byte(strings.Repeat(`{"session":"`+session+"\"}\n", lines)))
	must(f.tb, err)
	return checkpoint.StoredTranscript{Segments: []git.OID{oid}, Hash: "sha256:" + strings.Repeat("0", 64)}
}

// file writes a file, or removes it if mode is 0.
func (f *mergeFixture) file(path, content string, mode git.Mode) edit {
	return func(tree git.OID) git.OID {
		f.tb.Helper()
		change := git.TreeEdit{Path: path}
		if mode != 0 {
			oid, err := f.git.WriteBlob([]byte(content))
			must(f.tb, err)
			change.Mode, change.OID = mode, oid
		}
		next, err := git.EditTree(f.tb.Context(), f.git, tree, []git.TreeEdit{change})
		must(f.tb, err)
		return next
	}
}

func (f *mergeFixture) remove(id checkpoint.ID) edit { return f.file(id.Dir(), "", 0) }

// commit creates a commit of the parent's tree with the edits applied.
func (f *mergeFixture) commit(parent git.OID, edits ...edit) git.OID {
	f.tb.Helper()
	tree, parents := f.git.Format.EmptyTree(), []git.OID(nil)
	if parent != "" {
		c, err := f.git.Commit(f.tb.Context(), string(parent))
		must(f.tb, err)
		tree, parents = c.Tree, []git.OID{parent}
	}
	for _, e := range edits {
		tree = e(tree)
	}
	oid, err := f.git.WriteCommit(git.Commit{
		Tree: tree, Parents: parents, Author: author(), Committer: author(), Message: fmt.Sprintf("%d edits of %s\n", len(edits), parent),
	})
	must(f.tb, err)
	return oid
}

// merge sets the branch to ours and merges theirs into it.
func (f *mergeFixture) merge(ours, theirs git.OID) git.Commit {
	f.tb.Helper()
	f.Git("update-ref", checkpoint.MetadataBranch, string(ours))
	tip, err := checkpoint.Merge(f.tb.Context(), &checkpoint.Rewriting{Repo: f.git}, author(), theirs, nil)
	must(f.tb, err)
	if now := f.Git("rev-parse", checkpoint.MetadataBranch); now != string(tip) {
		f.tb.Fatalf("the branch is at %s, not %s", now, tip)
	}
	c, err := f.git.Commit(f.tb.Context(), string(tip))
	must(f.tb, err)
	return c
}

// sessions lists the sessions of the checkpoints: "id session lines" in the order of the slots.
func (f *mergeFixture) sessions(c git.Commit) []string {
	f.tb.Helper()
	var list []string
	for _, id := range f.ids(c) {
		read, err := f.readIn(f.tb, c.Tree, id)
		must(f.tb, err)
		if len(read.Sessions) != len(read.Summary.Sessions) || read.Summary.CheckpointsCount != len(read.Sessions) {
			f.tb.Errorf("the summary of %s is not of its sessions: %+v", id, read.Summary)
		}
		for i, s := range bySlot(read) {
			if s.Index != i {
				f.tb.Errorf("slot %d of %s is %d", i, id, s.Index)
			}
			list = append(list, fmt.Sprintf("%s %s %d", id, s.Meta.SessionID, s.Meta.TranscriptLines))
		}
	}
	return list
}

func (f *mergeFixture) ids(c git.Commit) []checkpoint.ID {
	var ids []checkpoint.ID
	for line := range strings.Lines(f.Git("ls-tree", "-r", "--name-only", string(c.OID)) + "\n") {
		if len(line) < 13 {
			continue
		}
		id, err := checkpoint.ParseID(line[:2] + line[3:13])
		if err == nil && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

func TestMergeLosesNothing(t *testing.T) {
	t.Parallel()
	f := newMergeFixture(t)
	edits := func(e ...edit) []edit { return e }
	for name, c := range map[string]struct {
		base, ours, theirs []edit
		want               []string
	}{
		"both have new ones": {
			edits(f.put(idOne, "s", 1)), edits(f.put(idTwo, "s", 2)), edits(f.put(idThree, "t", 3)),
			[]string{"aa0000000001 s 1", "aa0000000002 s 2", "cc0000000003 t 3"},
		},
		"theirs was completed": {
			edits(f.put(idOne, "s", 1)), edits(f.put(idTwo, "s", 1)), edits(f.put(idOne, "s", 5)),
			[]string{"aa0000000001 s 5", "aa0000000002 s 1"},
		},
		"theirs was completed by less": {
			edits(f.put(idOne, "s", 5)), edits(f.put(idTwo, "s", 1)), edits(f.put(idOne, "s", 2)),
			[]string{"aa0000000001 s 2", "aa0000000002 s 1"},
		},
		"ours was completed": {
			edits(f.put(idOne, "s", 1)), edits(f.put(idOne, "s", 5)), edits(f.put(idThree, "s", 1)),
			[]string{"aa0000000001 s 5", "cc0000000003 s 1"},
		},
		"both were completed, theirs has more": {
			edits(f.put(idOne, "s", 1)), edits(f.put(idOne, "s", 2)), edits(f.put(idOne, "s", 3)),
			[]string{"aa0000000001 s 3"},
		},
		"both were completed, ours has more": {
			edits(f.put(idOne, "s", 1)), edits(f.put(idOne, "s", 4)), edits(f.put(idOne, "s", 3)),
			[]string{"aa0000000001 s 4"},
		},
		"a session each in one slot": {
			edits(f.put(idOne, "s", 1)), edits(f.put(idOne, "t", 2)), edits(f.put(idOne, "u", 3)),
			[]string{"aa0000000001 s 1", "aa0000000001 u 3", "aa0000000001 t 2"},
		},
		"one id, no base": {
			nil, edits(f.put(idOne, "t", 2), f.put(idOne, "s", 1)), edits(f.put(idOne, "s", 3), f.put(idOne, "t", 1)),
			[]string{"aa0000000001 s 3", "aa0000000001 t 2"},
		},
		"removed there": {
			edits(f.put(idOne, "s", 1), f.put(idThree, "s", 1)), edits(f.put(idTwo, "s", 1)), edits(f.remove(idOne)),
			[]string{"aa0000000002 s 1", "cc0000000003 s 1"},
		},
		"removed here": {
			edits(f.put(idOne, "s", 1), f.put(idThree, "s", 1)), edits(f.remove(idThree)), edits(f.put(idTwo, "s", 1)),
			[]string{"aa0000000001 s 1", "aa0000000002 s 1"},
		},
		"removed here, completed there": {
			edits(f.put(idOne, "s", 1)), edits(f.remove(idOne)), edits(f.put(idOne, "s", 3)),
			[]string{"aa0000000001 s 3"},
		},
		"removed there, completed here": {
			edits(f.put(idOne, "s", 1)), edits(f.put(idOne, "s", 3)), edits(f.remove(idOne)),
			[]string{"aa0000000001 s 3"},
		},
	} {
		base := f.commit("", c.base...)
		ours, theirs := f.commit(base, c.ours...), f.commit(base, c.theirs...)
		got := f.merge(ours, theirs)
		if diff := cmp.Diff(c.want, f.sessions(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff([]git.OID{ours, theirs}, got.Parents); diff != "" || got.Message != "Merge remote session logs\n" {
			t.Errorf("%s: %q, parents %s", name, got.Message, diff)
		}
	}
	f.fsck(t)
}

func TestMergeOfUnrelatedHistories(t *testing.T) {
	t.Parallel()
	f := newMergeFixture(t)
	got := f.merge(f.commit("", f.put(idOne, "s", 1)), f.commit("", f.put(idOne, "s", 2), f.put(idThree, "t", 1)))
	if diff := cmp.Diff([]string{"aa0000000001 s 2", "cc0000000003 t 1"}, f.sessions(got)); diff != "" {
		t.Error(diff)
	}
}

// TestMergeFastForwards: the branch moves forward to theirs, or stays.
func TestMergeFastForwards(t *testing.T) {
	t.Parallel()
	f := newMergeFixture(t)
	first := f.commit("", f.put(idOne, "s", 1))
	second := f.commit(first, f.put(idTwo, "s", 1))
	for name, c := range map[string]struct{ ours, theirs, want git.OID }{
		"behind": {first, second, second}, "ahead": {second, first, second}, "equal": {first, first, first},
	} {
		if got := f.merge(c.ours, c.theirs); got.OID != c.want {
			t.Errorf("%s: %s, want %s", name, got.OID, c.want)
		}
	}
}

// TestMergeStartsAtOrigin: without a local branch, the branch fetched from origin is this side.
func TestMergeStartsAtOrigin(t *testing.T) {
	t.Parallel()
	f := newMergeFixture(t)
	origin := f.commit("", f.put(idOne, "s", 1))
	f.Git("update-ref", "refs/remotes/origin/entire/checkpoints/v1", string(origin))
	tip, err := checkpoint.Merge(t.Context(), &checkpoint.Rewriting{Repo: f.git}, author(), f.commit("", f.put(idTwo, "s", 1)), nil)
	must(t, err)
	c, err := f.git.Commit(t.Context(), string(tip))
	must(t, err)
	if diff := cmp.Diff([]string{"aa0000000001 s 1", "aa0000000002 s 1"}, f.sessions(c)); diff != "" {
		t.Error(diff)
	}
}

// TestMergeKeepsDataOfShorterSession: its summary, its touched files, its unknown files.
func TestMergeKeepsDataOfShorterSession(t *testing.T) {
	t.Parallel()
	f := newMergeFixture(t)
	short := f.put(idOne, "s", 2, func(m *checkpoint.SessionMeta) {
		m.Summary, m.FilesTouched = json.RawMessage(`{"intent":"short"}`), []string{"b", "c"}
	})
	long := f.put(idOne, "s", 3, func(m *checkpoint.SessionMeta) {
		m.Attribution, m.FilesTouched = json.RawMessage(`{"agent_lines":1}`), []string{"a", "b"}
	})
	extra := []edit{f.file(idOne.Dir()+"/0/full.jsonl.001", "stale", git.ModeFile), f.file(idOne.Dir()+"/0/notes.txt", "n", git.ModeFile)}
	for name, c := range map[string]struct{ ours, theirs git.OID }{
		"ours is shorter":   {f.commit("", append([]edit{short}, extra...)...), f.commit("", long)},
		"theirs is shorter": {f.commit("", long), f.commit("", append([]edit{short}, extra...)...)},
	} {
		got := f.merge(c.ours, c.theirs)
		read, err := f.readIn(t, got.Tree, idOne)
		must(t, err)
		m := read.Sessions[0].Meta
		var said []string
		for _, raw := range []json.RawMessage{m.Summary, m.Attribution} {
			said = append(said, strings.Join(strings.Fields(string(raw)), ""))
		}
		said = append(said, m.FilesTouched...)
		if diff := cmp.Diff([]string{`{"intent":"short"}`, `{"agent_lines":1}`, "a", "b", "c"}, said); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		want := "content_hash.txt full.jsonl metadata.json notes.txt"
		if names := strings.Join(strings.Fields(f.Git("ls-tree", "--name-only", string(read.Sessions[0].Dir))), " "); names != want {
			t.Errorf("%s: %s", name, names)
		}
	}
}

// TestMergeMeasuresTranscriptsWithoutLineCount: other versions don't store the number of lines.
func TestMergeMeasuresTranscriptsWithoutLineCount(t *testing.T) {
	t.Parallel()
	f := newMergeFixture(t)
	lineless := func(m *checkpoint.SessionMeta) { m.TurnID, m.TranscriptLines = strconv.Itoa(m.TranscriptLines), 0 }
	for _, c := range []struct{ ours, theirs int }{{3, 7}, {7, 3}} {
		got := f.merge(f.commit("", f.put(idOne, "s", c.ours, lineless)), f.commit("", f.put(idOne, "s", c.theirs, lineless)))
		read, err := f.readIn(t, got.Tree, idOne)
		must(t, err)
		if turn := read.Sessions[0].Meta.TurnID; turn != "7" {
			t.Errorf("%d and %d lines: %s", c.ours, c.theirs, turn)
		}
	}
}

// TestMergeKeepsUnknownFiles, such as those of tasks, and files beside the checkpoints.
func TestMergeKeepsUnknownFiles(t *testing.T) {
	t.Parallel()
	f := newMergeFixture(t)
	dir := idOne.Dir()
	base := f.commit("", f.put(idOne, "s", 1))
	ours := f.commit(base, f.file(dir+"/tasks/t1/checkpoint.json", "ours", git.ModeFile), f.file(dir+"/both", "ours", git.ModeFile),
		f.file("README", "ours", git.ModeFile))
	theirs := f.commit(base, f.file(dir+"/tasks/t2/checkpoint.json", "theirs", git.ModeFile), f.file(dir+"/both", "theirs", git.ModeFile),
		f.file("README", "theirs", git.ModeFile), f.file("zz/readme", "theirs", git.ModeFile))
	got := f.merge(ours, theirs)
	want := map[string]string{
		dir + "/tasks/t1/checkpoint.json": "ours", dir + "/tasks/t2/checkpoint.json": "theirs",
		dir + "/both": "ours", "README": "ours", "zz/readme": "theirs",
	}
	for path, text := range want {
		if is := f.Git("cat-file", "blob", string(got.OID)+":"+path); is != text {
			t.Errorf("%s is %s", path, is)
		}
	}
}

// TestAttackMergeOfALargeCheckpoint: a checkpoint made too large to be read doesn't stop the
// merge. The readable side stays, and the message names the checkpoint.
func TestAttackMergeOfALargeCheckpoint(t *testing.T) {
	t.Parallel()
	f := newMergeFixture(t)
	base := f.commit("", f.put(idOne, "one", 1), f.put(idTwo, "two", 1))
	large := f.file(idOne.Dir()+"/0/metadata.json", strings.Repeat(" ", 9<<20), git.ModeFile)
	plain := f.commit(base, f.put(idOne, "one", 3), f.put(idThree, "three", 1))
	hostile := f.commit(base, large, f.put(idTwo, "two", 2))
	for name, sides := range map[string][2]git.OID{"theirs": {plain, hostile}, "ours": {hostile, plain}} {
		merged := f.merge(sides[0], sides[1])
		c, err := f.readIn(t, merged.Tree, idOne)
		must(t, err)
		if len(c.Sessions) != 1 || c.Sessions[0].Meta.TranscriptLines != 3 {
			t.Errorf("%s: %+v", name, c.Sessions)
		}
		if ids := f.ids(merged); len(ids) != 3 {
			t.Errorf("%s: checkpoints %q", name, ids)
		}
		if want := "Merge remote session logs\n\nNot merged, as one side is too large to be read:\naa0000000001\n"; merged.Message != want {
			t.Errorf("%s: message %q", name, merged.Message)
		}
	}
}

func TestMergeDropsLinks(t *testing.T) {
	t.Parallel()
	f := newMergeFixture(t)
	base := f.commit("", f.put(idOne, "s", 1))
	ours := f.commit(base, f.put(idOne, "s", 2))
	theirs := f.commit(base, f.put(idOne, "t", 2), f.file("link", "/etc/passwd", git.ModeLink), f.file("aa/link", "/etc", git.ModeLink),
		f.file(idOne.Dir()+"/link", "..", git.ModeLink), f.file(idOne.Dir()+"/metadata.json", "{damaged", git.ModeFile),
		f.file(idOne.Dir()+"/9/metadata.json", "[]", git.ModeFile), f.file("bb", "a file", git.ModeFile))
	evil := f.evil(theirs, ".git")
	got := f.merge(ours, evil)
	if list := f.Git("ls-tree", "-r", "--full-tree", string(got.OID)); strings.Contains(list, "link") || strings.Contains(list, ".git") {
		t.Errorf("taken over:\n%s", list)
	}
	read, err := f.readIn(t, got.Tree, idOne)
	must(t, err)
	if len(read.Sessions) != 3 {
		t.Errorf("%d sessions", len(read.Sessions))
	}
}

// evil creates a commit with an additional entry that git refuses.
func (f *mergeFixture) evil(of git.OID, name string) git.OID {
	f.tb.Helper()
	tree := f.Git("cat-file", "-p", string(of)+"^{tree}") + "\n040000 tree " + string(f.git.Format.EmptyTree()) + "\t" + name
	oid := f.GitInput(tree+"\n", "mktree", "--missing")
	return git.OID(f.Git("commit-tree", oid, "-p", string(of), "-m", "evil"))
}

// TestSetSummaryChangesOnlySummary: only the summary of the session changes.
func TestSetSummaryChangesOnlySummary(t *testing.T) {
	t.Parallel()
	f := newMergeFixture(t)
	before := f.commit("", f.put(idOne, "s", 2), f.put(idOne, "t", 3))
	at := checkpoint.SessionIn{ID: idOne, Session: "t"}
	summary := checkpoint.SessionSummary{Intent: "i", Outcome: "o"}
	after := f.commit(before, func(tree git.OID) git.OID {
		next, err := checkpoint.SetSummary(t.Context(), f.git, f.present(t, tree, idOne), at, summary)
		must(t, err)
		return f.with(t, tree, idOne, next)
	})
	if changed := f.Git("diff", "--name-only", string(before), string(after)); changed != idOne.Dir()+"/1/metadata.json" {
		t.Errorf("changed: %s", changed)
	}
	c, err := f.git.Commit(t.Context(), string(after))
	must(t, err)
	read, err := f.readIn(t, c.Tree, idOne)
	must(t, err)
	var got checkpoint.SessionSummary
	must(t, json.Unmarshal(bySlot(read)[1].Meta.Summary, &got))
	if diff := cmp.Diff(summary, got); diff != "" {
		t.Error(diff)
	}
	for _, absent := range []checkpoint.SessionIn{{ID: idOne, Session: "u"}, {ID: idTwo, Session: "s"}} {
		if _, err := checkpoint.SetSummary(t.Context(), f.git, f.present(t, c.Tree, absent.ID), absent, summary); !errors.Is(err, checkpoint.ErrNotFound) {
			t.Errorf("%v: %v", absent, err)
		}
	}
	if got, ok := checkpoint.SubjectID(strings.TrimSpace(checkpoint.SummaryMessage(at))); got != idOne || !ok {
		t.Errorf("its commit is about %q", got)
	}
}
