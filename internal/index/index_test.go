package index_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

func fine(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// noon returns the time of the first turn.
func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// turn returns turn n of a session.
func turn(session, n int) *index.Turn {
	at := noon().Add(time.Duration(session*100+n) * time.Minute)
	id := int64(session*1000 + n)
	t := &index.Turn{
		Key: id + 1, Line: n * 10, End: n*10 + 10, At: at, Ended: at.Add(30 * time.Second), Branch: []string{"main", "feature"}[n%2],
		Prompt:   fmt.Sprintf("prompt %d of %d", n, session),
		Calls:    []index.Call{{Line: n*10 + 1, At: at, Tool: "Bash", Text: "go test ./...", Command: true, Outcome: index.Outcome(1 + n%2), Status: n % 2}},
		Files:    []index.FileChange{{Path: fmt.Sprintf("dir/file%d.go", n%3), Added: n, Removed: 1, Edited: true}, {Path: "common.go", Added: 1, Edited: true}},
		Messages: []index.Message{{ID: id*2 + 1, Model: "large", Tokens: index.Tokens{Input: 7, CacheWrite: 11, CacheRead: 1000, Output: int64(n)}}, {ID: id*2 + 2, Model: "small", Subagent: true, Tokens: index.Tokens{Input: 3, Output: 5}}},
	}
	t.Texts[index.Prompt] = t.Prompt + " rateLimit"
	t.Texts[index.Answer] = fmt.Sprintf("the answer is word%d", n)
	t.Texts[index.Command] = "go test ./..."
	return t
}

const sessions, turns = 3, 8

// fill fills an index with sessions.
func fill(t testing.TB, f index.Files) {
	t.Helper()
	ctx := t.Context()
	w, err := index.OpenWriter(ctx, f)
	fine(t, err)
	fine(t, w.Close(ctx, put(ctx, w)))
}

func put(ctx context.Context, w *index.Writer) error {
	for s := range sessions {
		row, err := w.PutSession(ctx, index.Session{Name: fmt.Sprintf("session-%d", s), Agent: "Agent"})
		if err != nil {
			return err
		}
		for n := range turns {
			if _, err := w.Turns.Put(ctx, row, turn(s, n)); err != nil {
				return err
			}
		}
		part := index.Part{Checkpoint: fmt.Sprintf("%012d", s), Session: row, At: noon(), Branch: "main", To: turns * 5}
		if err := w.Checkpoints.Put(ctx, part); err != nil {
			return err
		}
		recorded := index.Recorded{Checkpoint: part.Checkpoint, At: noon(), Name: "Ada", Email: "ada@example.com"}
		if err := w.Checkpoints.PutAuthor(ctx, recorded); err != nil {
			return err
		}
		for _, oid := range []string{"aaaa", "bbbb"} {
			c := index.Commit{OID: fmt.Sprintf("%s%d", oid, s), Checkpoint: part.Checkpoint, At: noon(), Author: "Ada", Email: "ada@example.com", Subject: "Do it"}
			if err := w.PutCommit(ctx, c); err != nil {
				return err
			}
		}
		if err := w.Commit(ctx); err != nil {
			return err
		}
	}
	return w.SetMeta(ctx, "done", "yes")
}

// state returns the results of all queries of the index.
func state(t testing.TB, f index.Files) (string, error) {
	t.Helper()
	ctx := t.Context()
	r, err := index.Open(ctx, f)
	if err != nil {
		return "", err
	}
	defer func() { fine(t, r.Close()) }()
	var all []any
	rows, _, err := r.Turns(ctx, index.Filter{}, 1000)
	if err != nil {
		return "", err
	}
	for i := range rows {
		calls, err := r.Calls(ctx, rows[i].ID, true)
		if err != nil {
			return "", err
		}
		files, err := r.ChangedFiles(ctx, rows[i].ID)
		if err != nil {
			return "", err
		}
		rows[i].ID = 0
		all = append(all, rows[i], calls, files)
	}
	for _, text := range []string{"rate limit", "word3", "ratelimmit", "file1"} {
		found, err := r.Search(ctx, index.Query{Text: text, Limit: 100, Now: noon()})
		if err != nil {
			return "", err
		}
		for i := range found.Hits {
			found.Hits[i].ID = 0
		}
		all = append(all, found)
	}
	return fmt.Sprintf("%+v", all), nil
}

func filled(t testing.TB) (index.Files, string, string) {
	t.Helper()
	dir := t.TempDir()
	f := index.At(dir)
	fill(t, f)
	want, err := state(t, f)
	fine(t, err)
	return f, dir, want
}

// The tokens of a turn are divided among its files, and among its commits.
func TestTokensAreDividedAmongFilesAndCommits(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	f := index.At(t.TempDir())
	w, err := index.OpenWriter(ctx, f)
	fine(t, err)
	row, err := w.PutSession(ctx, index.Session{Name: "one"})
	fine(t, err)
	for n := range 2 {
		one := turn(0, n)
		one.Files = []index.FileChange{{Path: "a.go", Edited: true}, {Path: "b.go", Edited: true}}
		one.Messages = []index.Message{{ID: int64(n + 1), Model: "large", Tokens: index.Tokens{Input: 101}}}
		_, err = w.Turns.Put(ctx, row, one)
		fine(t, err)
	}
	for n, name := range []string{"000000000001", "000000000002"} {
		fine(t, w.Checkpoints.Put(ctx, index.Part{Checkpoint: name, Session: row, At: noon(), To: 10 * (n + 1)}))
		fine(t, w.PutCommit(ctx, index.Commit{OID: "c" + name, Checkpoint: name, At: noon(), Subject: name}))
		fine(t, w.PutCommit(ctx, index.Commit{OID: "d" + name, Checkpoint: name, At: noon().Add(-time.Hour), Subject: "copied"}))
	}
	fine(t, w.Close(ctx, nil))
	r, err := index.Open(ctx, f)
	fine(t, err)
	defer func() { fine(t, r.Close()) }()
	for by, want := range map[index.Group]map[string]int64{
		index.ByFile: {"a.go": 100, "b.go": 102}, index.ByCommit: {"c000000000001": 50, "c000000000002": 152},
		index.ByPrompt: {"1": 101, "2": 101}, index.BySession: {"one": 202}, index.ByBranch: {"main": 101, "feature": 101},
	} {
		spent, err := r.Usage(ctx, index.Grouping{By: by, Local: time.UTC}, index.Filter{})
		fine(t, err)
		got := map[string]int64{}
		for _, s := range spent {
			got[s.Key] += s.Input
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("by %s (-want +got):\n%s", by, diff)
		}
	}
}

func TestFillingTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	f, _, want := filled(t)
	fill(t, f)
	got, err := state(t, f)
	fine(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The tokens of all groups add up to those of the messages, each counted once.
func TestTokensOfGroupsAddUpToTheTotal(t *testing.T) {
	t.Parallel()
	f, _, _ := filled(t)
	ctx := t.Context()
	w, err := index.OpenWriter(ctx, f)
	fine(t, err)
	row, err := w.PutSession(ctx, index.Session{Name: "resumed"})
	fine(t, err)
	again := turn(1, 1) // a session that continues another one repeats its messages
	again.Key = 77
	_, err = w.Turns.Put(ctx, row, again)
	fine(t, err)
	fine(t, w.Close(ctx, nil))

	var want index.Tokens
	for s := range sessions {
		for n := range turns {
			for _, m := range turn(s, n).Messages {
				want = want.Plus(m.Tokens)
			}
		}
	}
	r, err := index.Open(ctx, f)
	fine(t, err)
	defer func() { fine(t, r.Close()) }()
	rows, _, err := r.Turns(ctx, index.Filter{}, 1000)
	fine(t, err)
	ofTurns, bySession := index.Tokens{}, map[string]index.Tokens{}
	for _, row := range rows {
		all := row.Tokens.Plus(row.Subagents)
		ofTurns, bySession[row.Session] = ofTurns.Plus(all), bySession[row.Session].Plus(all)
	}
	if ofTurns != want {
		t.Errorf("turns: %+v, want %+v", ofTurns, want)
	}
	for _, by := range index.Groups() {
		spent, err := r.Usage(ctx, index.Grouping{By: by, Local: time.UTC}, index.Filter{})
		fine(t, err)
		total, messages, ofSession := index.Tokens{}, int64(0), map[string]index.Tokens{}
		for _, s := range spent {
			total, messages = total.Plus(s.Tokens), messages+s.Messages
			ofSession[s.Key] = ofSession[s.Key].Plus(s.Tokens)
		}
		if total != want || messages != sessions*turns*2 {
			t.Errorf("by %s: %+v of %d messages, want %+v", by, total, messages, want)
		}
		if by != index.BySession {
			continue
		}
		delete(bySession, "resumed")
		if diff := cmp.Diff(bySession, ofSession); diff != "" {
			t.Errorf("turns and sessions: %s", diff)
		}
	}
}

// The author of a turn is that of the earliest record of its first checkpoint, and of the session if
// the record names sessions. Nobody is, if that isn't known.
func TestAuthorsAreThoseOfTheFirstRecord(t *testing.T) {
	t.Parallel()
	ada, bob, nobody := index.Recorded{Name: "Ada", Email: "ada@example.com"}, index.Recorded{Email: "bob@example.com"}, index.Recorded{}
	in := func(a index.Recorded, checkpoint, session string, hour int) index.Recorded {
		a.Checkpoint, a.Session, a.At = checkpoint, session, noon().Add(time.Duration(hour)*time.Hour)
		return a
	}
	const one, two = "000000000001", "000000000002" // the turn is in both
	for name, c := range map[string]struct {
		records []index.Recorded
		turn    string
		session []string
	}{
		"none":                {nil, "", nil},
		"the first":           {[]index.Recorded{in(ada, one, "s", 1), in(bob, two, "s", 2)}, "Ada", []string{"Ada", "bob@example.com"}},
		"in any order":        {[]index.Recorded{in(bob, one, "s", 2), in(ada, one, "s", 1)}, "Ada", []string{"Ada"}},
		"only the later":      {[]index.Recorded{in(bob, two, "s", 2)}, "", []string{"bob@example.com"}},
		"unknown":             {[]index.Recorded{in(nobody, one, "s", 1), in(bob, two, "s", 2)}, "", []string{"bob@example.com"}},
		"of another session":  {[]index.Recorded{in(ada, one, "other", 1), in(bob, one, "s", 2)}, "bob@example.com", []string{"bob@example.com"}},
		"without the session": {[]index.Recorded{in(ada, one, "", 1)}, "Ada", []string{"Ada"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, f := t.Context(), index.At(t.TempDir())
			w, err := index.OpenWriter(ctx, f)
			fine(t, err)
			row, err := w.PutSession(ctx, index.Session{Name: "s"})
			fine(t, err)
			_, err = w.Turns.Put(ctx, row, turn(0, 0))
			fine(t, err)
			for n, checkpoint := range []string{one, two} {
				at := noon().Add(time.Duration(n) * time.Hour)
				fine(t, w.Checkpoints.PutSlot(ctx, index.Slot{Checkpoint: checkpoint, Session: row, At: at}))
				fine(t, w.Checkpoints.Put(ctx, index.Part{Checkpoint: checkpoint, Session: row, At: at}))
			}
			for _, a := range c.records {
				fine(t, w.Checkpoints.PutAuthor(ctx, a))
			}
			fine(t, w.Close(ctx, nil))
			r, err := index.Open(ctx, f)
			fine(t, err)
			defer func() { fine(t, r.Close()) }()
			rows, _, err := r.Turns(ctx, index.Filter{}, 2)
			fine(t, err)
			if len(rows) != 1 || rows[0].Person != c.turn {
				t.Errorf("the turn is of %+v, want %q", rows, c.turn)
			}
			found, _, err := r.Sessions(ctx, index.SessionFilter{}, -1)
			fine(t, err)
			if diff := cmp.Diff(c.session, found[0].Persons); diff != "" {
				t.Errorf("session (-want +got):\n%s", diff)
			}
			spent, err := r.Usage(ctx, index.Grouping{By: index.ByPerson}, index.Filter{})
			fine(t, err)
			for _, s := range spent {
				if s.Key != c.turn {
					t.Errorf("tokens of %q, want %q", s.Key, c.turn)
				}
			}
			for text, name := range map[string]string{"ADA@": "Ada", "BOB": "bob@example.com"} {
				n, err := r.Count(ctx, index.Filter{Person: text})
				fine(t, err)
				ofSession, err := r.SessionsOf(ctx, text)
				fine(t, err)
				if (n == 1) != (c.turn == name) || (len(ofSession) == 1) != slices.Contains(c.session, name) {
					t.Errorf("%s selects %d turns and the sessions %q", text, n, ofSession)
				}
			}
		})
	}
}

func TestTurnsAreFiltered(t *testing.T) {
	t.Parallel()
	f, _, _ := filled(t)
	r, err := index.Open(t.Context(), f)
	fine(t, err)
	defer func() { fine(t, r.Close()) }()
	for name, c := range map[string]struct {
		filter index.Filter
		want   int
	}{
		"all":         {index.Filter{}, 24},
		"session":     {index.Filter{Session: "session-1"}, 8},
		"agent":       {index.Filter{Agent: "gen"}, 24},
		"no agent":    {index.Filter{Agent: "x"}, 0},
		"branch":      {index.Filter{Branch: "main"}, 12},
		"author":      {index.Filter{Person: "ADA"}, 12},
		"file":        {index.Filter{File: "dir/file1.go"}, 9},
		"its end":     {index.Filter{File: "file1.go"}, 9},
		"directory":   {index.Filter{File: "dir"}, 24},
		"part of it":  {index.Filter{File: "ile1.go"}, 0},
		"tool":        {index.Filter{Tool: "bash"}, 24},
		"failed":      {index.Filter{Failed: true}, 12},
		"its failure": {index.Filter{Tool: "Bash", Failed: true}, 12},
		"since":       {index.Filter{Since: noon().Add(200 * time.Minute)}, 8},
		"until":       {index.Filter{Until: noon().Add(3 * time.Minute)}, 4},
		"uncommitted": {index.Filter{Uncommitted: true}, 12},
		"all of them": {index.Filter{Session: "session-0", Branch: "main", File: "common.go", Tool: "Bash", Person: "ada"}, 2},
	} {
		rows, more, err := r.Turns(t.Context(), c.filter, 100)
		fine(t, err)
		if len(rows) != c.want || more {
			t.Errorf("%s: %d turns, want %d", name, len(rows), c.want)
		}
		found, err := r.Search(t.Context(), index.Query{Text: "prompt rate", Filter: c.filter, Limit: 100, Now: noon()})
		fine(t, err)
		if len(found.Hits) != c.want {
			t.Errorf("%s: %d hits, want %d", name, len(found.Hits), c.want)
		}
	}
}

func TestSimilarWordsAreFound(t *testing.T) {
	t.Parallel()
	f, _, _ := filled(t)
	r, err := index.Open(t.Context(), f)
	fine(t, err)
	defer func() { fine(t, r.Close()) }()
	for text, want := range map[string]map[string]string{
		"ratelimit":     nil, // indexed, as part of rateLimit
		"pormpt":        {"pormpt": "prompt"},
		"rpompt":        {"rpompt": "prompt"},
		"brompt":        {"brompt": "prompt"},
		"rompt":         {"rompt": "prompt"},
		"aprompt":       {"aprompt": "prompt"},
		"answr":         {"answr": "answer"},
		"rate":          nil,
		"zzzzzzzz":      nil,
		"commno.go":     {"commno": "common"},
		"answer answre": {"answre": "answer"},
	} {
		found, err := r.Search(t.Context(), index.Query{Text: text, Limit: 100, Now: noon()})
		fine(t, err)
		if diff := cmp.Diff(want, found.Instead); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
		if (len(found.Hits) > 0) != (text != "zzzzzzzz") {
			t.Errorf("%s: %d hits", text, len(found.Hits))
		}
	}
}

// After any loss or change of the files' bytes the index is rebuilt and returns the same results.
func TestRebuildAfterDamage(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "an index for each loss")
	f, dir, want := filled(t)
	database, stamp := filepath.Join(dir, "index.db"), filepath.Join(dir, "index.stamp")
	size := func() int64 {
		info, err := os.Stat(database)
		fine(t, err)
		return info.Size()
	}
	random := rand.New(rand.NewPCG(1, 2))
	damages := map[string]func(){
		"truncated": func() { fine(t, os.Truncate(database, random.Int64N(size()))) },
		"emptied":   func() { fine(t, os.Truncate(database, 0)) },
		"removed":   func() { fine(t, os.Remove(database)) },
		"no stamp":  func() { fine(t, os.Remove(stamp)) },
		"stamp":     func() { fine(t, os.WriteFile(stamp, []byte("1 2 3"), 0o600)) },
		"journal":   func() { fine(t, os.WriteFile(database+"-journal", []byte("garbage"), 0o600)) },
		"directory": func() { fine(t, os.Remove(database)); fine(t, os.Mkdir(database, 0o700)) },
	}
	for i := range 30 {
		damages[fmt.Sprintf("garbage %d", i)] = func() {
			file, err := os.OpenFile(database, os.O_RDWR, 0)
			fine(t, err)
			garbage := make([]byte, 1+random.IntN(64))
			for i := range garbage {
				garbage[i] = byte(random.Uint32())
			}
			_, err = file.WriteAt(garbage, random.Int64N(size()))
			fine(t, errors.Join(err, file.Close()))
			later := time.Now().Add(time.Second) // as on a clock with a higher resolution
			fine(t, os.Chtimes(database, later, later))
		}
	}
	for name, damage := range damages {
		damage()
		got, err := state(t, f)
		if err != nil && !errors.Is(err, index.ErrLost) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && got != want {
			t.Errorf("%s: the index was used", name)
		}
		fill(t, f)
		got, err = state(t, f)
		fine(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestOtherVersionIsRebuilt(t *testing.T) {
	t.Parallel()
	f, _, want := filled(t)
	fine(t, index.SetVersion(t.Context(), f, 99))
	if _, err := state(t, f); !errors.Is(err, index.ErrLost) {
		t.Error(err)
	}
	fill(t, f)
	got, err := state(t, f)
	fine(t, err)
	if got != want {
		t.Error(cmp.Diff(want, got))
	}
}

// Writers wait for each other, and readers see the index before or after a write.
func TestConcurrentWritersAndReaders(t *testing.T) {
	t.Parallel()
	f, _, want := filled(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { fill(t, f) })
		all.Go(func() {
			if got, err := state(t, f); err != nil || got != want {
				t.Errorf("%v %s", err, cmp.Diff(want, got))
			}
		})
	}
	all.Wait()
	w, err := index.OpenWriter(t.Context(), f)
	fine(t, err)
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := index.OpenWriter(short, f); !errors.Is(err, index.ErrBusy) {
		t.Errorf("a second writer: %v", err)
	}
	fine(t, w.Close(t.Context(), nil))
}

// No input of a user causes an error of SQLite.
func FuzzQuery(f *testing.F) {
	files, _, _ := filled(f)
	r, err := index.Open(f.Context(), files)
	fine(f, err)
	f.Cleanup(func() { _ = r.Close() })
	for _, seed := range []string{"rate limit", `"a`, "NEAR(a, 3) AND", "col : x", "^a + b*", "{prompt} : x", "a\x00b", "\xff", strings.Repeat("x ", 300), "*", "-a", "日本"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, kinds := range [][]index.Kind{nil, {index.Prompt, index.Output}} {
			if _, err := r.Search(t.Context(), index.Query{Text: text, Kinds: kinds, Limit: 3, Now: noon()}); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
		}
	})
}
