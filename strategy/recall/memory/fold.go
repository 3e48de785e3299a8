package memory

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/shellcmd"
)

// Scope selects the sessions that count as those of the branch.
type Scope struct {
	// Branch is the checked out branch, empty on a detached HEAD. Worktree is the worktree's root.
	Branch, Worktree string
	// Only, if not empty, are the only sessions that count: on a trunk, where the sessions have
	// different subjects.
	Only []string
}

// Of returns the memory of a branch. The sessions may be in any order. Rules and the environment
// hold in the whole repository; other facts of other branches are about files and commands.
func Of(list []Session, scope Scope) Memory {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Session) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	m := Memory{Format: format, Branch: scope.Branch}
	here := scope.sessions(list)
	var purpose []Quote
	words := recall.NewWords()
	for _, s := range list {
		if !here[s.ID] {
			continue
		}
		m.Sessions = append([]Source{{ID: s.ID, At: s.At, Person: s.Person}}, m.Sessions...)
		if len(s.Requests) > 0 {
			purpose = append(purpose, Quote{Text: s.Requests[0].Text, Session: s.ID, Person: s.Person})
		}
		for _, c := range slices.Backward(s.Commits) {
			if !strings.HasPrefix(c.Subject, "fixup!") {
				m.Done = slices.DeleteFunc(m.Done, func(d Commit) bool { return d.Subject == c.Subject }) // amended
				m.Done = append([]Commit{{Commit: c, Session: s.ID}}, m.Done...)
			}
		}
		m.Todo = slices.DeleteFunc(m.Todo, s.did(words))
		for _, text := range s.Todo {
			m.Todo = append(m.Todo, Quote{Text: text, Session: s.ID, Person: s.Person})
		}
		for _, f := range slices.Backward(s.Files) {
			if i := slices.IndexFunc(m.Files, func(known File) bool { return known.Path == f.Path }); i >= 0 {
				if m.Files[i].Use == Changed {
					f.Use = Changed
				}
				f.Hash = cmp.Or(f.Hash, m.Files[i].Hash)
				m.Files = slices.Delete(m.Files, i, i+1)
			}
			f.Session = s.ID
			m.Files = append([]File{f}, m.Files...)
		}
	}
	m.Todo = m.Todo[max(0, len(m.Todo)-maxTodo):]
	m.Purpose = firstAndLast(purpose, maxPurpose)
	m.Done, m.Files = m.Done[:min(len(m.Done), maxDone)], m.Files[:min(len(m.Files), maxFiles)]
	m.Facts = standing(list, here, words)
	return m
}

// did returns a function that reports whether the session did an item that an earlier one left open, or
// has it in its own list: one of its commits, requests or items has half of its words.
func (s Session) did(words recall.Words) func(Quote) bool {
	texts := slices.Clone(s.Todo)
	for _, c := range s.Commits {
		texts = append(texts, c.Subject)
	}
	for _, r := range s.Requests {
		texts = append(texts, r.Text)
	}
	said := make([]map[string]bool, len(texts))
	for i, text := range texts {
		said[i] = words.Of(text)
	}
	return func(item Quote) bool {
		of := words.Of(item.Text)
		return slices.ContainsFunc(said, func(text map[string]bool) bool {
			const share = 2
			common := 0
			for w := range of {
				if text[w] {
					common++
				}
			}
			return common*share >= len(of)
		})
	}
}

// sessions returns the ids of the sessions of the scope: those on the branch, and those that name
// one of their pull requests.
func (s Scope) sessions(list []Session) map[string]bool {
	here := map[string]bool{}
	if len(s.Only) > 0 {
		for _, id := range s.Only {
			here[id] = true
		}
		return here
	}
	pulls := map[string]bool{}
	for _, l := range list {
		if l.Branch == s.Branch && (s.Branch != "" || l.Worktree == s.Worktree) {
			here[l.ID] = true
			for _, name := range l.PullRequests {
				pulls[number(name)] = true
			}
		}
	}
	for _, l := range list {
		if slices.ContainsFunc(l.PullRequests, func(name string) bool { return pulls[number(name)] }) {
			here[l.ID] = true
		}
	}
	return here
}

// number returns the number of a pull request given by its number or URL.
func number(pull string) string { return pull[strings.LastIndexAny(pull, "/#")+1:] }

// standing returns the facts that no later session replaced, the latest first.
func standing(list []Session, here map[string]bool, words recall.Words) []Fact {
	hashes := hashesThen(list)
	passed := map[string]bool{} // the commands that passed in later sessions
	var kept []Fact
	var said []map[string]bool // the words of kept
	for n, s := range slices.Backward(list) {
		for _, of := range slices.Backward(s.Facts) {
			f := Fact{Fact: of, Session: s.ID, Person: s.Person, Here: here[s.ID], Commit: s.Commit}
			if f.Kind == recall.Failure && passed[commandKey(f.Command)] {
				continue
			}
			if at := slices.IndexFunc(kept, func(k Fact) bool { return sameKey(k.Fact, of) }); at >= 0 {
				kept[at].merge(f)
				continue
			}
			content := words.Of(f.Text)
			same := -1
			for k := range kept {
				if mayReplace(kept[k].Fact, of) && (similar(said[k], content) || rejects(words, kept[k].Text, of.Text)) {
					same = k
					break
				}
			}
			if same >= 0 {
				kept[same].merge(f)
				continue
			}
			f.Hashes = make([]string, len(f.Files))
			for k, path := range f.Files {
				f.Hashes[k] = hashes[n][path]
			}
			if kept, said = append(kept, f), append(said, content); len(kept) == maxFacts {
				return kept
			}
		}
		for _, command := range s.Passed {
			passed[commandKey(command)] = true
		}
	}
	return kept
}

// hashesThen returns the contents of the files of the facts of each session, by path: as of the end of
// that session, or of the last one before it that has the file.
func hashesThen(list []Session) []map[string]string {
	latest := map[string]string{}
	then := make([]map[string]string, len(list))
	for i, s := range list {
		for _, f := range s.Files {
			if f.Hash != "" {
				latest[f.Path] = f.Hash
			}
		}
		then[i] = map[string]string{}
		for _, f := range s.Facts {
			for _, path := range f.Files {
				then[i][path] = latest[path]
			}
		}
	}
	return then
}

// merge counts an earlier fact about the same thing.
func (f *Fact) merge(earlier Fact) {
	f.Here = f.Here || earlier.Here
	if f.Kind != recall.Rule {
		return
	}
	f.Times = max(f.Times, 1) + max(earlier.Times, 1)
	if f.Session != earlier.Session {
		f.Sessions = max(f.Sessions, 1) + max(earlier.Sessions, 1)
	}
}

// sameKey reports whether two facts are about the same command, or are the same reference or text.
func sameKey(a, b recall.Fact) bool {
	switch {
	case a.Kind != b.Kind:
		return false
	case a.Kind == recall.Failure:
		return commandKey(a.Command) == commandKey(b.Command)
	case a.Kind == recall.Reference:
		return number(a.Text) == number(b.Text)
	default:
		return a.Text == b.Text
	}
}

// mayReplace reports whether the later of two facts may replace the earlier because their words
// are similar. An agent's decision doesn't replace a person's.
func mayReplace(later, earlier recall.Fact) bool {
	switch later.Kind {
	case recall.Decision, recall.Rule:
		return (earlier.Kind == recall.Decision || earlier.Kind == recall.Rule) &&
			(later.By == recall.Person || earlier.By != recall.Person) && (later.Kind == recall.Rule || earlier.Kind != recall.Rule)
	case recall.Attempt:
		return earlier.Kind == recall.Attempt
	case recall.Environment, recall.Reference, recall.Failure:
	}
	return false
}

// similar reports whether two texts share at least three words that are three fifths of the
// shorter one's.
func similar(a, b map[string]bool) bool {
	const least, share, of = 3, 3, 5
	common := 0
	for w := range a {
		if b[w] {
			common++
		}
	}
	return common >= least && common*of >= share*min(len(a), len(b))
}

// rejects reports whether a later text states what it rejects ("cents, not strings"), and an earlier one
// chose that: has the words, not among those that it rejects itself.
func rejects(words recall.Words, later, earlier string) bool {
	const most = 3 // words: longer ones name more than what is rejected
	_, against := chosen(later)
	named := words.All(against)
	if len(named) == 0 || len(named) > most {
		return false
	}
	before, _ := chosen(earlier)
	of := words.All(before)
	for w := range named {
		if !of[w] {
			return false
		}
	}
	return true
}

// chosen splits a text into what it chooses, and what it rejects: the words after "not", "instead of"
// and the like, up to the end of the clause.
func chosen(text string) (choice, rejected string) {
	low := strings.ToLower(text)
	for _, mark := range []string{", not ", " instead of ", " rather than ", " no longer ", " without "} {
		before, after, found := strings.Cut(low, mark)
		if !found {
			continue
		}
		end := strings.IndexAny(after, ".,;:()")
		if end < 0 {
			end = len(after)
		}
		return before + after[end:], after[:end]
	}
	return low, ""
}

// commandKey returns a form of a command that is equal for lines that run the same.
func commandKey(command string) string {
	if key, _, ok := shellcmd.Split(command).Matters(); ok {
		return key
	}
	return strings.Join(strings.Fields(command), " ")
}

// firstAndLast returns the first item and the last others of a list, at most n, without
// repetitions.
func firstAndLast(list []Quote, n int) []Quote {
	var kept []Quote
	for _, q := range list {
		if !slices.ContainsFunc(kept, func(k Quote) bool { return k.Text == q.Text }) {
			kept = append(kept, q)
		}
	}
	if len(kept) > n {
		kept = append(kept[:1], kept[len(kept)-n+1:]...)
	}
	return kept
}

// cut returns a text as one line of at most 400 bytes.
func cut(text string) string {
	const most = 400
	return plain.Shorten(strings.Join(strings.Fields(text), " "), most)
}

func contains(list []string, s string) bool { return slices.Contains(list, s) }

func sortFiles(list []File) {
	slices.SortFunc(list, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
}
