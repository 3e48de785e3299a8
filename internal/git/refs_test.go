package git_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

func TestUpdateRefs(t *testing.T) {
	t.Parallel()
	gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
		r := s.Open(dir)
		one := git.OID(s.Git(dir, "rev-parse", "HEAD"))
		s.Git(dir, "commit", "-q", "--allow-empty", "-m", "two")
		two := git.OID(s.Git(dir, "rev-parse", "HEAD"))
		steps := []struct {
			name    string
			updates []git.RefChange
			moved   bool
			want    map[string]git.OID
		}{
			{"nothing", nil, false, map[string]git.OID{}},
			{"create two", []git.RefChange{{Name: "refs/heads/e/a", New: one}, {Name: "refs/heads/e/b", New: two}}, false, map[string]git.OID{"a": one, "b": two}},
			{"create what is there", []git.RefChange{{Name: "refs/heads/e/a", New: two}}, true, map[string]git.OID{"a": one, "b": two}},
			{"wrong old", []git.RefChange{{Name: "refs/heads/e/a", New: two, Old: two}}, true, map[string]git.OID{"a": one, "b": two}},
			{"absent", []git.RefChange{{Name: "refs/heads/e/c", New: two, Old: two}}, true, map[string]git.OID{"a": one, "b": two}},
			{"all or none", []git.RefChange{{Name: "refs/heads/e/a", New: two, Old: one}, {Name: "refs/heads/e/b", New: one, Old: one}}, true, map[string]git.OID{"a": one, "b": two}},
			{"delete wrong", []git.RefChange{{Name: "refs/heads/e/a", Old: two}}, true, map[string]git.OID{"a": one, "b": two}},
			{"delete absent", []git.RefChange{{Name: "refs/heads/e/c", Old: two}}, true, map[string]git.OID{"a": one, "b": two}},
			{"swap", []git.RefChange{{Name: "refs/heads/e/a", New: two, Old: one}, {Name: "refs/heads/e/b", Old: two}, {Name: "refs/heads/e/c", New: one}}, false, map[string]git.OID{"a": two, "c": one}},
		}
		for _, packed := range []bool{false, true} {
			for _, tt := range steps {
				if packed {
					s.Git(dir, "pack-refs", "--all")
				}
				err := git.UpdateRefs(t.Context(), r, "why\nand how", tt.updates)
				if errors.Is(err, git.ErrRefMoved) != tt.moved || !tt.moved && err != nil {
					t.Errorf("%s: %v", tt.name, err)
				}
				got := map[string]git.OID{}
				for _, ref := range gittest.Must[[]git.Ref](t)(git.ListRefs(t.Context(), r, "refs/heads/e/")) {
					got[strings.TrimPrefix(ref.Name, "refs/heads/e/")] = ref.OID
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tt.name, diff)
				}
			}
			s.Git(dir, "update-ref", "-d", "refs/heads/e/a")
			s.Git(dir, "update-ref", "-d", "refs/heads/e/c")
		}
	})
}

func TestUpdateRefsBreaksOwnAbandonedLocks(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	r := s.Open(dir)
	head := git.OID(s.Git(dir, "rev-parse", "HEAD"))
	for _, tt := range []struct {
		ref  string
		age  time.Duration
		want error
	}{
		{"refs/heads/entire/checkpoints/v1", time.Hour, nil},
		{"refs/heads/entire/checkpoints/v2", time.Second, git.ErrRefLocked},
		{"refs/heads/theirs", time.Hour, git.ErrRefLocked},
	} {
		lock := filepath.Join(dir, ".git", tt.ref+".lock")
		s.Write(dir, ".git/"+tt.ref+".lock", "")
		then := time.Now().Add(-tt.age)
		if err := os.Chtimes(lock, then, then); err != nil {
			t.Fatal(err)
		}
		err := git.UpdateRefs(t.Context(), r, "", []git.RefChange{{Name: tt.ref, New: head}})
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.ref, err)
		}
		if _, err := os.Lstat(lock); (err == nil) == (tt.want == nil) {
			t.Errorf("%s: the lock: %v", tt.ref, err)
		}
	}
}

// TestAbandonedPackedRefsLock deletes a ref, for which git needs the lock of packed-refs that a
// killed git left.
func TestAbandonedPackedRefsLock(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "git waits for the lock")
	s := gittest.New(t)
	dir := s.Init("r")
	r := s.Open(dir)
	head := git.OID(s.Git(dir, "rev-parse", "HEAD"))
	const name = "refs/heads/entire/old"
	if err := git.UpdateRefs(t.Context(), r, "", []git.RefChange{{Name: name, New: head}}); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(dir, ".git", "packed-refs.lock")
	s.Write(dir, ".git/packed-refs.lock", "")
	for _, tt := range []struct {
		age  time.Duration
		want error
	}{{2 * time.Minute, git.ErrRefLocked}, {time.Hour, nil}} {
		then := time.Now().Add(-tt.age)
		if err := os.Chtimes(lock, then, then); err != nil {
			t.Fatal(err)
		}
		if err := git.UpdateRefs(t.Context(), r, "", []git.RefChange{{Name: name, Old: head}}); !errors.Is(err, tt.want) {
			t.Errorf("%v old: %v", tt.age, err)
		}
	}
	if rest := gittest.Must[[]string](t)(filepath.Glob(lock + "*")); len(rest) > 0 {
		t.Errorf("left %v", rest)
	}
}

func TestUpdateRefsOtherErrors(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	r := s.Open(dir)
	head := git.OID(s.Git(dir, "rev-parse", "HEAD"))
	if err := git.UpdateRefs(t.Context(), r, "", []git.RefChange{{Name: "refs/heads/x", New: head}}); err != nil {
		t.Fatal(err)
	}
	for name, u := range map[string]git.RefChange{
		"no such object":    {Name: "refs/heads/y", New: git.OID(strings.Repeat("1", 40))},
		"not a name":        {Name: "HEAD", New: head},
		"newline":           {Name: "refs/heads/a\nb", New: head},
		"bad name":          {Name: "refs/heads/a..b", New: head},
		"below another":     {Name: "refs/heads/x/y", New: head},
		"above another":     {Name: "refs/heads", New: head},
		"no id":             {Name: "refs/heads/y", New: "HEAD"},
		"nothing":           {Name: "refs/heads/y"},
		"format of another": {Name: "refs/heads/y", New: head + head[:24]},
	} {
		err := git.UpdateRefs(t.Context(), r, "", []git.RefChange{u})
		if err == nil || errors.Is(err, git.ErrRefMoved) || errors.Is(err, git.ErrRefLocked) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.Write(dir, ".git/refs/heads/x.lock", "")
	err := git.UpdateRefs(t.Context(), r, "", []git.RefChange{{Name: "refs/heads/x", New: head, Old: head}})
	if !errors.Is(err, git.ErrRefLocked) || errors.Is(err, git.ErrRefMoved) {
		t.Errorf("locked: %v", err)
	}
	// A ref whose lock file is a directory can't be written.
	if err := os.MkdirAll(filepath.Join(dir, ".git/refs/heads/z.lock/x"), 0o755); err != nil {
		t.Fatal(err)
	}
	err = git.UpdateRefs(t.Context(), r, "", []git.RefChange{{Name: "refs/heads/z", New: head}})
	if err == nil || errors.Is(err, git.ErrRefMoved) {
		t.Errorf("unwritable: %v", err)
	}
}

// TestNoUpdateIsLost has two writers append to one chain, which must contain one commit for each
// successful update.
func TestNoUpdateIsLost(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	const name = "refs/heads/chain"
	each := testkit.Rounds(20, 200)
	var wg sync.WaitGroup
	var mu sync.Mutex
	done, raced := 0, 0
	for w := range 2 {
		r := s.Open(dir)
		wg.Go(func() {
			for i := 0; i < each; {
				err := appendCommit(t, r, name, fmt.Sprintf("writer %d commit %d", w, i))
				mu.Lock()
				switch {
				case err == nil:
					done++
					i++
				case errors.Is(err, git.ErrRefMoved), errors.Is(err, git.ErrRefLocked):
					raced++
				default:
					t.Errorf("writer %d: %v", w, err)
					i++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if got := s.Git(dir, "rev-list", "--count", name); got != strconv.Itoa(done) || done != 2*each {
		t.Errorf("%s commits on the chain, %d succeeded", got, done)
	}
	t.Logf("%d lost races", raced)
	s.Git(dir, "fsck", "--strict", "--no-dangling")
}

func appendCommit(t *testing.T, r *git.Repo, name, message string) error {
	c := git.Commit{Tree: r.Format.EmptyTree(), Message: message}
	tip, err := r.Commit(t.Context(), name)
	if err != nil && !errors.Is(err, git.ErrMissing) {
		return err
	}
	if err == nil {
		c.Parents = []git.OID{tip.OID}
	}
	oid, err := r.WriteCommit(c)
	if err != nil {
		return err
	}
	return git.UpdateRefs(t.Context(), r, "append", []git.RefChange{{Name: name, New: oid, Old: tip.OID}})
}

func TestUpdateDoesNotFollowSymbolicRef(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	head := git.OID(s.Git(dir, "rev-parse", "HEAD"))
	s.Git(dir, "symbolic-ref", "refs/heads/entire/x", "refs/heads/main")
	r := s.Open(dir)
	oid := gittest.Must[git.OID](t)(r.WriteCommit(git.Commit{Tree: r.Format.EmptyTree()}))
	if err := git.UpdateRefs(t.Context(), r, "", []git.RefChange{{Name: "refs/heads/entire/x", New: oid, Old: head}}); err != nil {
		t.Fatal(err)
	}
	if got := s.Git(dir, "rev-parse", "main", "refs/heads/entire/x"); got != string(head+"\n"+oid) {
		t.Errorf("got %s", got)
	}
}

func TestUpdateRefsWithoutIdentity(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	head := git.OID(s.Git(dir, "rev-parse", "HEAD"))
	s.Git(dir, "config", "user.useConfigOnly", "true")
	s.Env = s.Anonymous()
	r := s.Open(dir)
	if err := git.UpdateRefs(t.Context(), r, "why", []git.RefChange{{Name: "refs/heads/entire/x", New: head}}); err != nil {
		t.Error(err)
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	head := git.OID(s.Git(dir, "rev-parse", "HEAD"))
	for _, name := range []string{"refs/heads/entire/1", "refs/heads/entire/2/x", "refs/heads/entire-not", "refs/entire/context/1"} {
		s.Git(dir, "update-ref", name, string(head))
	}
	r := s.Open(dir)
	want := []git.Ref{{Name: "refs/heads/entire/1", OID: head}, {Name: "refs/heads/entire/2/x", OID: head}}
	for _, prefix := range []string{"refs/heads/entire/", "refs/heads/entire"} {
		if diff := cmp.Diff(want, gittest.Must[[]git.Ref](t)(git.ListRefs(t.Context(), r, prefix))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", prefix, diff)
		}
	}
	if got := gittest.Must[[]git.Ref](t)(git.ListRefs(t.Context(), r)); len(got) != 5 {
		t.Errorf("got %v", got)
	}
	if got := gittest.Must[[]git.Ref](t)(git.ListRefs(t.Context(), r, "refs/none/")); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

// TestBreakLock checks that a fresh lock stays and an abandoned one is removed.
func TestBreakLock(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	r := s.Open(dir)
	lock := filepath.Join(dir, ".git", "refs", "heads", "x.lock")
	s.Write(filepath.Dir(lock), "x.lock", "theirs")
	if git.BreakRefLock(r, lock) {
		t.Error("a fresh lock was broken")
	}
	if data, err := os.ReadFile(lock); err != nil || string(data) != "theirs" {
		t.Errorf("the fresh lock is %q, %v", data, err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(lock, old, old); err != nil {
		t.Fatal(err)
	}
	if !git.BreakRefLock(r, lock) {
		t.Error("an abandoned lock was not broken")
	}
	left, err := filepath.Glob(filepath.Join(dir, ".git", "*entire-tmp*"))
	if _, gone := os.Lstat(lock); gone == nil || err != nil || len(left) > 0 {
		t.Errorf("left: %v, %q", gone, left)
	}
}

func TestExist(t *testing.T) {
	t.Parallel()
	gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
		s.Git(dir, "update-ref", "refs/heads/topic", "HEAD")
		is := func(what string, want bool) {
			t.Helper()
			r := s.Open(dir)
			if got := gittest.Must[bool](t)(git.RefsExist(t.Context(), r, "refs/remotes/")); got != want {
				t.Errorf("%s: %v", what, got)
			}
		}
		is("no remote", false)
		s.Git(dir, "update-ref", "refs/remotes/origin/main", "HEAD")
		is("loose", true)
		s.Git(dir, "pack-refs", "--all")
		is("packed", true)
		s.Git(dir, "update-ref", "-d", "refs/remotes/origin/main")
		is("removed", false)
	})
}
