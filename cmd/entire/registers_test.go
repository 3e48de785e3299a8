package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// registers is a repository with a record, and what the commands report of it.
type registers struct {
	*testkit.Repo

	t        *testing.T
	number   int // of the current scene
	turns    int
	sessions map[string]*testkit.Session

	authors map[string][]string            // of checkpoints and of sessions, in the order of git's record
	facts   map[string]map[string][]string // the sources of each value of a fact
	list    []loggedTurn                   // all turns, the oldest first
	commits []linkedCommit                 // of the branches, the oldest first
}

// linkedCommit is a commit as git reports it.
type linkedCommit struct {
	oid, subject string
	checkpoints  []string
	files        []string
	added        int
	head         bool // it is in the history of HEAD
}

// TestRegistersAgree plays commits of all kinds, and compares what each command reports about each
// turn, commit and session: it is the same everywhere. ENTIRE_TEST_REGISTERS=all plays all kinds,
// and a list of names these; by default it is a selection.
func TestRegistersAgree(t *testing.T) {
	testkit.Long(t, "commits of all kinds")
	t.Parallel()
	r := &registers{Repo: matrixRepo(t), t: t, sessions: map[string]*testkit.Session{}, facts: map[string]map[string][]string{}}
	selected := os.Getenv("ENTIRE_TEST_REGISTERS")
	rounds, began := 1, time.Now()
	if selected == "all" {
		rounds = 2
	}
	for range rounds {
		for _, scene := range registerScenes() {
			if selected == "all" || selected == "" && scene.short || slices.Contains(strings.Split(selected, ","), scene.name) {
				r.number++
				t.Logf("scene %d: %s", r.number, scene.name)
				scene.play(r)
			}
		}
	}
	settleChildren(t, r.Repo)
	t.Logf("played in %v", time.Since(began))
	r.gather()
	t.Logf("compared after %v", time.Since(began))
	for _, fact := range slices.Sorted(maps.Keys(r.facts)) {
		values := r.facts[fact]
		if len(values) < 2 {
			continue
		}
		var b strings.Builder
		for _, value := range slices.Sorted(maps.Keys(values)) {
			fmt.Fprintf(&b, "\n  %s: %s", strings.Join(values[value], ", "), value)
		}
		t.Errorf("%s%s", fact, b.String())
	}
	t.Logf("%d facts about %d turns, %d commits, %d sessions", len(r.facts), len(r.list), len(r.commits), len(r.sessions))
}

// with returns the repository with additional environment variables.
func (r *registers) with(entries ...string) *testkit.Repo {
	return &testkit.Repo{TB: r.TB, Dir: r.Dir, Env: r.Env.With(entries...)}
}

// reports records what a source reports as a fact.
func (r *registers) reports(source, fact string, value any) {
	values := r.facts[fact]
	if values == nil {
		values = map[string][]string{}
		r.facts[fact] = values
	}
	text := fmt.Sprint(value)
	if !slices.Contains(values[text], source) {
		values[text] = append(values[text], source)
	}
}

// asked runs a command that prints JSON, and returns it.
func asked[T any](r *registers, args ...string) *T {
	r.TB.Helper()
	v := new(T)
	text := r.Entire(args...)
	if err := json.Unmarshal([]byte(text), v); err != nil {
		r.TB.Fatalf("entire %q: %v\n%s", args, err, text)
	}
	return v
}

// sorted returns the list sorted, without duplicates.
func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// usedTokens are token counts as the index has them.
type usedTokens struct {
	Input      int `json:"input"`
	CacheWrite int `json:"cache_write"`
	CacheRead  int `json:"cache_read"`
	Output     int `json:"output"`
}

func (t usedTokens) plus(o usedTokens) usedTokens {
	return usedTokens{t.Input + o.Input, t.CacheWrite + o.CacheWrite, t.CacheRead + o.CacheRead, t.Output + o.Output}
}

func storedTokens(t *testkit.Tokens) usedTokens {
	if t == nil {
		return usedTokens{}
	}
	return usedTokens{t.Input, t.CacheCreation, t.CacheRead, t.Output}.plus(storedTokens(t.Subagents))
}

// shownTurn is a turn in the output of log and search.
type shownTurn struct {
	Session     string     `json:"session"`
	Author      string     `json:"author"`
	Prompt      string     `json:"prompt"`
	Line        int        `json:"line"`
	EndLine     int        `json:"end_line"`
	Ended       string     `json:"ended"`
	Files       int        `json:"files"`
	Added       int        `json:"added"`
	Removed     int        `json:"removed"`
	Tokens      usedTokens `json:"tokens"`
	Subagents   usedTokens `json:"subagent_tokens"`
	Checkpoints []string   `json:"checkpoints"`
	Version     string     `json:"version"`
	Commits     []struct {
		Commit     string `json:"commit"`
		Checkpoint string `json:"checkpoint"`
	} `json:"commits"`
}

func (t *shownTurn) name() string { return fmt.Sprintf("turn %.8s:%d", t.Session, t.Line) }

func (t *shownTurn) total() usedTokens { return t.Tokens.plus(t.Subagents) }

func (t *shownTurn) oids() []string {
	var oids []string
	for _, c := range t.Commits {
		oids = append(oids, c.Commit)
	}
	return sorted(oids)
}

// loggedTurn is an element of the output of log.
type loggedTurn struct {
	Turn    shownTurn `json:"turn"`
	Changed []struct {
		Path string `json:"path"`
	} `json:"changed"`
}

func (t *loggedTurn) files() []string {
	var files []string
	for _, f := range t.Changed {
		files = append(files, f.Path)
	}
	return sorted(files)
}

func (r *registers) logged(args ...string) (list []loggedTurn) {
	r.TB.Helper()
	for line := range strings.Lines(r.Entire(append([]string{"log", "--jsonl", "--limit", "1000"}, args...)...)) {
		var t loggedTurn
		if err := json.Unmarshal([]byte(line), &t); err != nil {
			r.TB.Fatalf("%v\n%s", err, line)
		}
		if t.Turn.Session != "" {
			list = append(list, t)
		}
	}
	slices.Reverse(list)
	return list
}

// shownAs records what a source reports of a turn.
func (r *registers) shownAs(source string, t *shownTurn) {
	r.reports(source, t.name()+" request", t.Prompt)
	r.reports(source, t.name()+" author", t.Author)
	r.reports(source, t.name()+" checkpoints", sorted(t.Checkpoints))
	r.reports(source, t.name()+" commits", t.oids())
	r.reports(source, t.name()+" end", fmt.Sprint(t.EndLine, " ", t.Ended))
	r.reports(source, t.name()+" tokens", t.total())
	r.reports(source, t.name()+" changed", fmt.Sprintf("%d files, +%d -%d", t.Files, t.Added, t.Removed))
}

func (r *registers) gather() {
	r.TB.Helper()
	r.fromGit()
	r.fromLog()
	r.fromSearch()
	r.fromSessions()
	r.fromUsage()
	r.fromExplain()
	r.fromCommits()
	r.fromBlame()
	r.fromReport()
	r.fromServer()
	r.fromNewIndex()
}

// fromNewIndex lists the turns from an index that is made at once.
func (r *registers) fromNewIndex() {
	names, err := filepath.Glob(filepath.Join(r.CommonDir(), "entire", "index*"))
	if err != nil || len(names) == 0 {
		r.t.Fatalf("no index: %v", err)
	}
	for _, name := range names {
		if err := os.RemoveAll(name); err != nil {
			r.t.Fatal(err)
		}
	}
	list := r.logged()
	for i := range list {
		r.shownAs("log, new index", &list[i].Turn)
		r.reports("log", list[i].Turn.name()+" files", r.turnNamed(list[i].Turn.name()).files())
		r.reports("log, new index", list[i].Turn.name()+" files", list[i].files())
	}
	if len(list) != len(r.list) {
		r.t.Errorf("a new index has %d turns, the old one has %d", len(list), len(r.list))
	}
}

// turnNamed returns the turn of that name, or an empty one.
func (r *registers) turnNamed(name string) *loggedTurn {
	for i := range r.list {
		if r.list[i].Turn.name() == name {
			return &r.list[i]
		}
	}
	return &loggedTurn{}
}

func (r *registers) fromGit() {
	id := regexp.MustCompile(`(?m)^Entire-Checkpoint: (\S+)$`)
	head := strings.Fields(r.Git("rev-list", "HEAD"))
	for oid := range strings.FieldsSeq(r.Git("rev-list", "--reverse", "--exclude=entire/*", "--branches")) {
		c := linkedCommit{oid: oid, subject: r.Git("log", "-1", "--format=%s", oid), checkpoints: r.Trailers(oid)}
		for _, found := range id.FindAllStringSubmatch(r.Git("log", "-1", "--no-notes", "--notes=entire", "--format=%N", oid), -1) {
			c.checkpoints = append(c.checkpoints, found[1])
		}
		c.checkpoints = sorted(c.checkpoints)
		for line := range strings.Lines(r.Git("show", "--format=", "--numstat", "--no-renames", oid)) {
			added, rest, _ := strings.Cut(line, "\t")
			_, path, _ := strings.Cut(strings.TrimRight(rest, "\n"), "\t")
			n, err := strconv.Atoi(added)
			if err != nil {
				continue
			}
			c.files = append(c.files, path)
			c.added += n
		}
		c.head = slices.Contains(head, oid)
		r.commits = append(r.commits, c)
	}
	r.authors = map[string][]string{}
	record := regexp.MustCompile(`^Checkpoint: (\S+)\n(?s:.*)\nEntire-Session: (\S+)\n`)
	for oid := range strings.FieldsSeq(r.Git("rev-list", "--reverse", "entire/checkpoints/v1")) {
		if found := record.FindStringSubmatch(r.Git("log", "-1", "--format=%B", oid) + "\n"); found != nil {
			name := r.Git("log", "-1", "--format=%an", oid)
			for _, of := range []string{found[1], found[2], found[1] + " " + found[2]} {
				r.authors[of] = append(r.authors[of], name)
			}
		}
	}
}

// authorOf returns the author of the first record of a checkpoint, or of a session in it.
func (r *registers) authorOf(of string) string {
	if list := r.authors[of]; len(list) > 0 {
		return list[0]
	}
	return ""
}

// named returns the name of a commit's facts.
func (c *linkedCommit) name() string { return fmt.Sprintf("commit %.7s (%s)", c.oid, c.subject) }

// of returns the commits with a checkpoint.
func (r *registers) of(checkpoints ...string) (oids []string) {
	for _, c := range r.commits {
		if slices.ContainsFunc(checkpoints, func(id string) bool { return slices.Contains(c.checkpoints, id) }) {
			oids = append(oids, c.oid)
		}
	}
	return sorted(oids)
}

func (r *registers) fromLog() {
	r.list = r.logged()
	places := map[string][]string{} // the turns that changed a file
	perCommit := map[string][]string{}
	for i := range r.list {
		t := &r.list[i]
		r.shownAs("log", &t.Turn)
		r.reports("log, changed", t.Turn.name()+" file count", len(t.Changed))
		r.reports("log", t.Turn.name()+" file count", t.Turn.Files)
		r.reports("git", t.Turn.name()+" commits", r.of(t.Turn.Checkpoints...))
		if len(t.Turn.Checkpoints) == 0 {
			r.reports("git", t.Turn.name()+" author", "")
		} else {
			r.reports("git", t.Turn.name()+" author", r.authorOf(t.Turn.Checkpoints[0]+" "+t.Turn.Session))
		}
		for _, path := range t.files() {
			places[path] = append(places[path], t.Turn.name())
		}
		for _, c := range t.Turn.Commits {
			perCommit[c.Commit] = append(perCommit[c.Commit], c.Checkpoint)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(places)) {
		r.reports("log", "turns of "+path, sorted(places[path]))
		var turns []string
		for _, t := range r.logged("--file", path) {
			turns = append(turns, t.Turn.name())
		}
		r.reports("log --file", "turns of "+path, sorted(turns))
	}
	for i := range r.commits {
		c := &r.commits[i]
		r.reports("git", c.name()+" checkpoints", sorted(c.checkpoints))
		r.reports("log", c.name()+" checkpoints", sorted(perCommit[c.oid]))
	}
}

func (r *registers) fromSearch() {
	for _, hit := range asked[struct{ Hits []shownTurn }](r, "search", "--json", "--kind", "prompt", "--limit", "1000", "please").Hits {
		r.shownAs("search", &hit)
	}
}

// ofSession are the facts about a session, added up from its turns.
type ofSession struct {
	turns    int
	prompt   string
	files    []string
	tokens   usedTokens
	linked   []string
	authors  []string
	unlinked usedTokens // tokens of turns without a checkpoint
}

func (r *registers) bySession() map[string]*ofSession {
	all := map[string]*ofSession{}
	for i := range r.list {
		t := &r.list[i]
		s := all[t.Turn.Session]
		if s == nil {
			s = &ofSession{prompt: t.Turn.Prompt}
			all[t.Turn.Session] = s
		}
		if t.Turn.Prompt != "" {
			s.turns++
		}
		s.files = append(s.files, t.files()...)
		s.tokens = s.tokens.plus(t.Turn.total())
		s.linked = append(s.linked, t.Turn.Checkpoints...)
		if t.Turn.Author != "" {
			s.authors = append(s.authors, t.Turn.Author)
		}
		if len(t.Turn.Checkpoints) == 0 {
			s.unlinked = s.unlinked.plus(t.Turn.total())
		}
	}
	return all
}

func (r *registers) fromSessions() {
	for id, s := range r.bySession() {
		name := fmt.Sprintf("session %.8s ", id)
		r.reports("log", name+"turns", s.turns)
		r.reports("log", name+"first prompt", s.prompt)
		r.reports("log", name+"files", sorted(s.files))
		r.reports("log", name+"tokens", s.tokens)
		r.reports("log", name+"checkpoints", sorted(s.linked))
		r.reports("log", name+"authors", sorted(s.authors))
		r.reports("git", name+"authors", sorted(r.authors[id]))
	}
	type listed struct {
		ID             string
		FirstPrompt    string `json:"first_prompt"`
		LastCheckpoint string `json:"last_checkpoint"`
		Turns          int
		Files          []string
		Checkpoints    []string
		Authors        []string
		Tokens         *testkit.Tokens `json:"token_usage"`
		Checkpoint     *struct {
			Attribution *storedShare
		}
	}
	for _, s := range asked[struct{ Sessions []listed }](r, "sessions", "--json", "--all").Sessions {
		name := fmt.Sprintf("session %.8s ", s.ID)
		r.reports("sessions", name+"turns", s.Turns)
		r.reports("sessions", name+"first prompt", s.FirstPrompt)
		r.reports("sessions", name+"files", sorted(s.Files))
		r.reports("sessions", name+"tokens", storedTokens(s.Tokens))
		r.reports("sessions", name+"checkpoints", sorted(s.Checkpoints))
		r.reports("sessions", name+"authors", sorted(s.Authors))
	}
	for _, s := range asked[struct{ Sessions []listed }](r, "status", "--json").Sessions {
		r.reports("status", fmt.Sprintf("session %.8s first prompt", s.ID), s.FirstPrompt)
		if s.Checkpoint != nil && s.Checkpoint.Attribution != nil {
			r.reports("status", "checkpoint "+s.LastCheckpoint+" share", *s.Checkpoint.Attribution)
		}
	}
}

// storedShare are the lines of a checkpoint's commit, as they were counted when it was made.
type storedShare struct {
	Agent        int `json:"agent_lines"`
	Unknown      int `json:"unknown_lines"`
	Total        int `json:"total_committed"`
	AgentRemoved int `json:"agent_removed"`
	HumanRemoved int `json:"human_removed"`
}

func (r *registers) fromUsage() {
	type member struct {
		Key       string
		Label     string
		Authors   []string
		Tokens    usedTokens
		Subagents usedTokens `json:"subagent_tokens"`
	}
	type usage struct {
		Members []member
		Total   member
	}
	var total usedTokens
	for id, s := range r.bySession() {
		total = total.plus(s.tokens)
		r.reports("log", "session "+id[:8]+" tokens", s.tokens)
	}
	r.reports("log", "tokens of all", total)
	byAuthor := map[string]usedTokens{}
	for i := range r.list {
		t := &r.list[i].Turn
		byAuthor[t.Author] = byAuthor[t.Author].plus(t.total())
	}
	for name, used := range byAuthor {
		r.reports("log", "tokens of "+name, used)
	}
	for _, by := range []string{"session", "branch", "commit", "day", "model", "agent", "file", "prompt", "person"} {
		u := asked[usage](r, "usage", "--json", "--limit", "1000", "--per", by)
		var sum usedTokens
		for _, m := range u.Members {
			used := m.Tokens.plus(m.Subagents)
			sum = sum.plus(used)
			switch {
			case by == "session":
				r.reports("usage", "session "+m.Key[:8]+" tokens", used)
				r.reports("usage", fmt.Sprintf("session %.8s authors", m.Key), sorted(m.Authors))
			case by == "person":
				r.reports("usage", "tokens of "+m.Key, used)
			case by == "commit" && m.Key != "":
				i := slices.IndexFunc(r.commits, func(c linkedCommit) bool { return c.oid == m.Key })
				if i < 0 {
					r.t.Errorf("usage --per commit has %s, which is on no branch", m.Key)
				}
			}
		}
		r.reports("usage --per "+by, "tokens of all", sum)
		r.reports("usage --per "+by+", total", "tokens of all", u.Total.Tokens.plus(u.Total.Subagents))
	}
}
