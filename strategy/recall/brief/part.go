package brief

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/strategy/recall"
)

// The names of sections.
const (
	requestsPart   = "requests"
	statePart      = "state"
	decisionsPart  = "decisions"
	todoPart       = "todo"
	filesPart      = "files"
	contentsPart   = "file contents"
	commandsPart   = "commands"
	compactionPart = "compaction"
)

// SectionNames returns the names that Section accepts.
func SectionNames() []string {
	return []string{requestsPart, statePart, decisionsPart, todoPart, filesPart, contentsPart, commandsPart, compactionPart}
}

// Section returns one section of a brief within limit tokens, as counted by CountTokens,
// and MaxUnits; empty if the context has no content for it. It shows more of the section
// than a brief does. A name that is not one of SectionNames is an error.
func Section(m Material, name string, limit int) (string, error) {
	if !slices.Contains(SectionNames(), name) {
		return "", fmt.Errorf("unknown section %.40q: %s", name, strings.Join(SectionNames(), ", "))
	}
	a, c := m.Checkpoint.State.Analysis, m.Checkpoint.State.Context
	var list []section
	switch name {
	case requestsPart:
		list = []section{requests(a, maxMentions)}
	case statePart:
		list = append([]section{earlier(m), progress(m)}, append(told(m.Checkpoint), where(m), remembered(m, referencesTitle, recall.Reference))...)
	case decisionsPart:
		list = []section{decisions(m), remembered(m, rulesTitle, recall.Rule), remembered(m, attemptsTitle, recall.Attempt)}
	case todoPart:
		list = []section{steps(m), question(a), blockers(m)}
	case filesPart:
		list = []section{fileLines(m, views(m)), readFiles(c, func(string) bool { return true }), rows("**Docs**:\n", unnamedDocs(m)), others(m)}
	case contentsPart:
		return contents(m, limit), nil
	case commandsPart:
		list = []section{commands(c.Commands), remembered(m, environmentTitle, recall.Environment), where(m)}
	case compactionPart:
		list = []section{compaction(m.Checkpoint)}
	}
	var b strings.Builder
	for _, c := range choose(list, size{units: MaxUnits, cost: tokens(limit)}) {
		b.WriteString(c.text())
	}
	return strings.TrimRight(b.String(), "\n"), nil
}

// contents returns the blocks of files that fit, those of uncommitted files first.
func contents(m Material, limit int) string {
	room := size{units: MaxUnits, cost: tokens(limit)}
	files := views(m)
	committed := slices.Clone(files)
	files = slices.DeleteFunc(files, func(v view) bool { return v.tracked == recall.Committed })
	committed = slices.DeleteFunc(committed, func(v view) bool { return v.tracked != recall.Committed })
	files = append(files, committed...)
	var b strings.Builder
	for i := range files {
		v := &files[i]
		if !v.known {
			continue
		}
		for _, text := range []string{v.whole(), v.changes(room.cost)} {
			if need := sizeOf(text); need.within(room) {
				b.WriteString(text)
				room = room.minus(need)
				break
			}
		}
	}
	return strings.TrimRight(b.String(), "\n")
}
