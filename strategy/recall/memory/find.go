package memory

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/strategy/recall"
)

// ForFile returns the decisions, attempts and rules about a file, by its path from the root of the
// worktree: those of persons first, then the latest.
func (m Memory) ForFile(path string) []Fact {
	var found []Fact
	for _, f := range m.Facts {
		about := f.Kind == recall.Decision || f.Kind == recall.Attempt || f.Kind == recall.Rule
		if about && slices.Contains(f.Files, path) {
			found = append(found, f)
		}
	}
	slices.SortStableFunc(found, func(a, b Fact) int { return cmp.Compare(rank(a), rank(b)) })
	return found
}

// rank orders facts: a person's before those of an accepted plan and of the agent.
func rank(f Fact) int {
	return slices.Index([]recall.Speaker{recall.Person, recall.OfPlan, recall.OfAgent, recall.Output}, f.By)
}

// ForCommand returns the rules that correct a command, and its failure, if it did not pass since.
func (m Memory) ForCommand(command string) []Fact {
	key := commandKey(command)
	var found []Fact
	for _, f := range m.Facts {
		if f.Command == "" || f.Kind != recall.Rule && f.Kind != recall.Failure {
			continue
		}
		of := commandKey(f.Command)
		if of == key || f.Kind == recall.Rule && strings.HasPrefix(key+" ", of+" ") {
			found = append(found, f)
		}
	}
	slices.SortStableFunc(found, func(a, b Fact) int { return cmp.Compare(rank(a), rank(b)) })
	return found
}

// Search returns the facts that have all words of the query in their texts, files or command, at
// most limit: those with most of them in the text first, then the latest.
func (m Memory) Search(query string, limit int) []Fact {
	words := strings.Fields(strings.ToLower(query))
	var found []Fact
	counts := map[string]int{} // by text
	for _, f := range m.Facts {
		text := strings.ToLower(f.Text)
		all := strings.ToLower(strings.Join(append([]string{text, f.Why, f.Command, string(f.Kind)}, f.Files...), "\n"))
		if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) }) {
			continue
		}
		for _, w := range words {
			if strings.Contains(text, w) {
				counts[f.Text]++
			}
		}
		found = append(found, f)
	}
	slices.SortStableFunc(found, func(a, b Fact) int { return cmp.Compare(counts[b.Text], counts[a.Text]) })
	return found[:min(len(found), limit)]
}
