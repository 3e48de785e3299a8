package servermerge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// comparison compares what the program prints with what the model knows.
type comparison struct {
	*world

	landed []landed
	// first has a line of a session for each commit that main's lines are from.
	first  map[string]string
	result Result
}

// landed is a commit that main got since the first record.
type landed struct {
	oid, subject string
	// sessions are those whose commits the added lines are from. adds is set if a session wrote one
	// of the lines, which isn't only moved within the commit.
	sessions map[string]bool
	adds     bool
	// moves is set if lines are moved within the commit, by anybody: the mover may be a session.
	moves bool
	// unlinked is set if it has one parent and its message names no checkpoint.
	unlinked bool
}

// landed lists the commits that main got since the first record, the oldest first.
func (w *world) landed() (list []landed) {
	w.checkout()
	log := w.serve("log", "--reverse", "--diff-merges=first-parent", "-p", "-U0", "--no-renames", "--format=%x01%H%x02%P%x02%B%x02", w.base+"..main")
	for record := range strings.SplitSeq(strings.TrimPrefix(log, "\x01"), "\x01") {
		part := strings.SplitN(record, "\x02", 4) //nolint:mnd // the fields of the format
		if len(part) < 4 {
			continue
		}
		subject, _, _ := strings.Cut(part[2], "\n")
		commit := landed{
			oid: part[0], subject: subject, sessions: map[string]bool{},
			unlinked: !strings.Contains(part[1], " ") && !strings.Contains(part[2], "Entire-Checkpoint: "),
		}
		count := map[string]int{} // of added lines, less those that are removed
		added, removed := map[string]bool{}, map[string]bool{}
		for line := range strings.Lines(part[3]) {
			text := strings.TrimSpace(line[1:])
			by, counted := w.writers[text]
			added[text] = added[text] || counted && line[0] == '+'
			removed[text] = removed[text] || counted && line[0] == '-'
			commit.moves = commit.moves || added[text] && removed[text]
			if line[0] == '+' && by.session != "" {
				commit.sessions[by.session] = true
			}
			switch {
			case by.role != agent:
			case line[0] == '+':
				count[text]++
			case line[0] == '-':
				count[text]--
			}
		}
		for _, n := range count {
			commit.adds = commit.adds || n > 0 && !w.restored[commit.oid]
		}
		list = append(list, commit)
	}
	return list
}

// blamed is the output of `entire blame --json`.
type blamed struct {
	Authors []struct {
		Kind    string `json:"kind"`
		Session string `json:"session"`
		Reason  string `json:"reason"`
		Turn    *struct {
			Prompt string `json:"prompt"`
		} `json:"turn"`
	} `json:"authors"`
	Lines []struct {
		Line   int    `json:"line"`
		Author int    `json:"author"`
		Commit string `json:"commit"`
		Text   string `json:"text"`
	} `json:"lines"`
}

// lines compares all lines of main in a clone.
func (c *comparison) lines(place string, repo *testkit.Repo) {
	known := map[string]bool{} // commits that are older than the pull requests
	for oid := range strings.FieldsSeq(repo.Git("rev-list", c.base)) {
		known[oid] = true
	}
	c.first = map[string]string{}
	for _, path := range tracked(repo, "HEAD") {
		lines := text(repo, path)
		if len(lines) == 0 {
			continue
		}
		var out blamed
		if err := json.Unmarshal([]byte(repo.Entire("blame", "--json", path)), &out); err != nil {
			repo.TB.Fatalf("blame %s: %v", path, err)
		}
		if len(out.Lines) != len(lines) {
			repo.TB.Fatalf("blame %s: %d lines, want %d", path, len(out.Lines), len(lines))
		}
		for _, line := range out.Lines {
			want, counted := c.writers[strings.TrimSpace(line.Text)]
			if !counted {
				continue
			}
			author := out.Authors[line.Author]
			got := answer{kind: author.Kind, session: author.Session}
			if author.Turn != nil {
				got.prompt = author.Turn.Prompt
			}
			where := fmt.Sprintf("%s:%d", path, line.Line)
			if want.role == agent && c.first[line.Commit] == "" {
				c.first[line.Commit] = where
			}
			count := judge(want, got, known[line.Commit], c.restored[line.Commit])
			c.result.Count = c.result.Add(count)
			if count.Right == 0 {
				c.fail("%s: %s is of %s, blame %.7s has %s %s: %s", place, where, want, line.Commit, got, author.Reason, line.Text)
			}
		}
	}
}

// answer is the author that the program names.
type answer struct{ kind, session, prompt string }

func (a answer) String() string {
	return strings.TrimSpace(a.kind + " " + a.session[:min(8, len(a.session))] + " " + a.prompt)
}

// judge counts a line. isOld is set if its commit is older than the pull requests, isRestored if its
// commit undoes another one.
func judge(want writer, got answer, isOld, isRestored bool) Count {
	count := Count{Lines: 1}
	var isRight bool
	isAgent, isPerson := got.kind == "agent", got.kind == "person"
	if isAgent && want.role != agent {
		count.Claimed = 1
	}
	switch want.role {
	case agent:
		count.Session = 1
		isRight = isAgent && got.session == want.session && got.prompt == want.prompt
		if !isRight && (!isAgent && !isPerson || isAgent && got.session == want.session && got.prompt == "") {
			if isRestored {
				count.Right = 1
			} else {
				count.Unrecorded = 1
			}
			return count
		}
	case early, recorded:
		isRight = isPerson || !isAgent && (want.role == recorded || !isOld)
		if !isAgent && !isPerson {
			count.Withheld = 1
		}
	case unseen:
		isRight = !isAgent && !isPerson
		if isPerson {
			count.Guessed = 1
		}
	}
	if isRight {
		count.Right = 1
	} else {
		count.Wrong = 1
	}
	return count
}

// falsePhrases are false of a commit, a line or a file that has lines of sessions.
func falsePhrases() []string {
	return []string{
		"without a session", "before recording was enabled", "no agent", "no session", "no associated entire checkpoint",
		"no checkpoint", "not by an agent", "by a person", "a person wrote", "not committed",
	}
}

// sentences asks the commands that describe commits, lines and files for those that have lines of
// sessions, and counts false sentences.
func (c *comparison) sentences(place string, repo *testkit.Repo) {
	ask := func(args ...string) {
		result := repo.TryEntire(args...)
		said := strings.ToLower(result.Stdout + result.Stderr)
		phrases := falsePhrases()
		if i := slices.IndexFunc(phrases, func(phrase string) bool { return strings.Contains(said, phrase) }); i >= 0 {
			c.result.Sentences++
			c.fail("%s: entire %s: %q", place, strings.Join(args, " "), phrases[i])
		}
	}
	added := slices.DeleteFunc(slices.Clone(c.landed), func(l landed) bool { return !l.adds })
	for _, commit := range added {
		ask("explain", "--no-pager", "--commit", commit.oid)
		ask("why", "--no-pager", commit.oid)
		if where := c.first[commit.oid]; where != "" {
			ask("why", "--no-pager", where)
			path, _, _ := strings.Cut(where, ":")
			ask("log", "--no-pager", "--file", path)
		}
	}
	ask("explain", "--no-pager")
	if n := len(added); n > 0 && added[n-1].unlinked { // it tells how the commits above the last link were made
		ask("resume", "main")
	}
}

// find lets the program link the commits that main got since the first record, and compares them
// with those that add lines of sessions and name no checkpoint.
func (c *comparison) find(place string, repo *testkit.Repo) {
	var out struct {
		Found []struct {
			Commit   string   `json:"commit"`
			Sessions []string `json:"sessions"`
		} `json:"found"`
	}
	text := repo.Entire("link", "--find", c.base+"..main", "--write", "--json")
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		repo.TB.Fatalf("link --find: %v\n%s", err, text)
	}
	found := map[string][]string{}
	for _, f := range out.Found {
		found[f.Commit] = f.Sessions
	}
	for _, commit := range c.landed {
		sessions, isFound := found[commit.oid]
		if commit.adds && commit.unlinked {
			c.result.Commits++
			if isFound {
				c.result.Found++
			} else {
				c.fail("%s: link --find doesn't link %.7s %s", place, commit.oid, commit.subject)
			}
		}
		isStranger := func(session string) bool { return !commit.sessions[session] }
		if isFound && (len(commit.sessions) == 0 && !commit.moves || slices.ContainsFunc(sessions, isStranger)) {
			c.result.Strangers++
			c.fail("%s: link --find links %.7s %s to a session that none of its lines is from", place, commit.oid, commit.subject)
		}
	}
}

// fail records something that isn't right.
func (c *comparison) fail(format string, args ...any) {
	c.result.Failures = append(c.result.Failures, fmt.Sprintf("%s, seed %d: ", c.result.Kind.Name, c.result.Seed)+fmt.Sprintf(format, args...))
}
