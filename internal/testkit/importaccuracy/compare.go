package importaccuracy

import (
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

func newWorld(repo *testkit.Repo, name string, seed uint64) *world {
	return &world{
		tb: repo.TB, repo: repo, env: repo.Env, seed: seed, zone: "+0200", writers: map[string]writer{}, copies: map[string]string{},
		random: rand.New(rand.NewPCG(seed, uint64(crc32.ChecksumIEEE([]byte(name))))), //nolint:gosec // a history can be played again
	}
}

// endSessions gives all session files the time of their last line.
func (w *world) endSessions() {
	for _, s := range slices.Concat(w.sessions, w.retired) {
		if _, err := os.Stat(s.Transcript.Path); err != nil {
			continue // it did nothing
		}
		lines := s.Transcript.Lines()
		_, last, _ := strings.Cut(lines[len(lines)-1], `"timestamp":"`)
		last, _, _ = strings.Cut(last, `"`)
		at, err := time.Parse(time.RFC3339, last)
		if err == nil {
			err = os.Chtimes(s.Transcript.Path, at, at)
		}
		if err != nil {
			w.tb.Fatalf("session file: %v", err)
		}
	}
	w.repo.Env = w.env
}

// comparison compares the result of an import with what the history knows.
type comparison struct {
	*world

	result Result
}

func (c *comparison) compare() {
	out := runImport(c.repo, c.from...)
	for _, path := range slices.DeleteFunc(textFiles(c.repo), func(path string) bool { return !strings.HasSuffix(path, ".src") }) {
		for _, got := range blameFile(c.repo, path) {
			if want, isCounted := c.writers[strings.TrimSpace(got.text)]; isCounted {
				c.line(want, got)
			}
		}
	}
	c.commitsOf(out)
}

func (c *comparison) line(want writer, got line) {
	n := &c.result.Count
	isFound := got.kind == "agent"
	fail := func(kind Mistake) {
		c.result.fail(kind, "seed %d: %s is of %s, commit %.8s; now %s: %s", c.seed, got.where(), want, got.commit, got.author(), strings.TrimSpace(got.text))
	}
	switch {
	case want.session == "":
		n.Others++
		if isFound {
			n.Claimed++
			fail(ClaimedLine)
		}
		return
	case want.isTied && !isFound:
		n.Unknown++
		return
	}
	n.Lines++
	switch {
	case !isFound:
		n.Missing++
		fail(MissingLine)
	case !c.isBy(want, got.session):
		n.Wrong++
		fail(WrongLine)
	default:
		n.Session++
		if got.prompt == want.prompt {
			n.Prompt++
		} else {
			fail(WrongTurn)
		}
	}
}

// commitsOf compares the links of commits with the sessions whose lines they add.
func (c *comparison) commitsOf(out imported) {
	links, reasons, by := out.links(), out.reasons(), out.evidence()
	n := &c.result.Count
	for record := range strings.SplitSeq(c.repo.Git("log", "--reverse", "-p", "-U0", "--no-renames", "--no-merges", "--format=%x01%H %s"), "\x01") {
		head, diff, _ := strings.Cut(record, "\n")
		oid, subject, _ := strings.Cut(head, " ")
		if oid == "" {
			continue
		}
		sessions, isClear := c.writersOf(diff)
		if !isClear {
			continue
		}
		got := links[oid]
		fail := func(kind Mistake) {
			c.result.fail(kind, "seed %d: %.8s %q has lines of %.8q; now %.8q by %s %s", c.seed, oid, subject, slices.Sorted(maps.Keys(sessions)), got, by[oid], reasons[oid])
		}
		if len(sessions) == 0 {
			n.Free++
			if len(got) > 0 {
				n.Taken++
				fail(TakenCommit)
			}
			continue
		}
		n.Commits++
		switch {
		case slices.ContainsFunc(slices.Collect(maps.Keys(sessions)), func(want string) bool {
			return slices.ContainsFunc(got, func(s string) bool { return c.isBy(writer{session: want}, s) })
		}):
			n.Linked++
		case len(got) > 0:
			n.Strange++
			fail(StrangeCommit)
		default:
			n.Unlinked++
			fail(UnlinkedCommit)
		}
	}
}

// writersOf returns the sessions of the lines that a diff adds. They aren't clear if it adds no
// line, or only moves or formats lines, or has lines that two sessions wrote.
func (c *comparison) writersOf(diff string) (sessions map[string]bool, isClear bool) {
	normal := strings.NewReplacer(`"`, "", "'", "")
	removed := map[string]bool{}
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "-") {
			removed[normal.Replace(strings.TrimSpace(line[1:]))] = true
		}
	}
	sessions = map[string]bool{}
	for line := range strings.Lines(diff) {
		text := strings.TrimSpace(line[1:])
		by, isCounted := c.writers[text]
		if !strings.HasPrefix(line, "+") || !isCounted || removed[normal.Replace(text)] {
			continue
		}
		if by.isTied {
			return nil, false
		}
		isClear = true
		if by.session != "" {
			sessions[by.session] = true
		}
	}
	return sessions, isClear
}
