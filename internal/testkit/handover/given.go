package main

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// brought is what a text names and lists.
type brought struct {
	text    string
	lines   *pool
	numbers map[string]bool
	// The items that it lists, by the kind of need that they are for.
	items map[string][]string
}

func newBrought(text string) *brought {
	g := &brought{text: text, numbers: map[string]bool{}, items: map[string][]string{}}
	var lines []unit
	for line := range strings.Lines(text) {
		lines = append(lines, unit{line, setOf(contentWords(line))})
		lines = append(lines, units(line)...)
	}
	g.lines = newPool(lines)
	addNumbers(g.numbers, text)
	add := func(kind, item string) {
		if !slices.Contains(g.items[kind], item) {
			g.items[kind] = append(g.items[kind], item)
		}
	}
	for n := range g.numbers {
		add(numberNeed, n)
	}
	all, _ := statements(text)
	for _, s := range all {
		switch kind := kindOf(s.section); kind {
		case fileNeed:
			for _, file := range listedFiles(s.text) {
				add(kind, file)
			}
		case commandNeed:
			for _, line := range simple(strings.Trim(strings.SplitN(s.text, ": ", 2)[0], "`")) {
				if core := coreOf(strings.Trim(line, "`")); core != "" {
					add(kind, core)
				}
			}
		case "":
		default:
			add(kind, s.text)
		}
	}
	return g
}

var sections = []struct { //nolint:gochecknoglobals // a read-only table
	kind  string
	title *regexp.Regexp
}{
	{ruleNeed, regexp.MustCompile(`rule|correct|constraint`)},
	{decisionNeed, regexp.MustCompile(`decision|decided|tried`)},
	{openNeed, regexp.MustCompile(`next|todo|open|block|fail|left|unfinished`)},
	{commandNeed, regexp.MustCompile(`command|environment|checks`)},
	{fileNeed, regexp.MustCompile(`file|content|docs|^read|^changed|^tests`)},
}

// kindOf returns the kind of need that a section is for, empty for none.
func kindOf(section string) string {
	for _, s := range sections {
		if s.title.MatchString(section) {
			return s.kind
		}
	}
	return ""
}

var pathLike = regexp.MustCompile(`^[\w@.+/()\[\]-]+\.\w+$|^[\w.-]+/[\w./-]+$|^[A-Z]\w*file$`)

// listedFiles returns the files at the beginning of an item, which may follow a label.
func listedFiles(item string) []string {
	if label, rest, ok := strings.Cut(item, ": "); ok && !pathLike.MatchString(strings.Trim(strings.SplitN(label, " ", 2)[0], "`")) {
		item = rest
	}
	about, _, _ := strings.Cut(item, " (")
	var files []string
	for name := range strings.SplitSeq(about, ", ") {
		if name, _, _ = strings.Cut(strings.TrimSpace(name), ": "); pathLike.MatchString(strings.Trim(name, "` ")) {
			files = append(files, path.Clean(strings.Trim(name, "` ")))
		}
	}
	return files
}

// has reports whether the text gives what is needed.
func (g *brought) has(l *lexicon, n need) bool {
	switch n.kind {
	case fileNeed:
		return names(g.text, n.text)
	case numberNeed:
		return g.numbers[n.text]
	case commandNeed:
		return names(g.text, n.text)
	}
	if core, ok := strings.CutPrefix(n.text, failingMark); ok {
		return slices.ContainsFunc(g.items[openNeed], func(item string) bool { return strings.Contains(item, core) })
	}
	words := setOf(contentWords(n.text))
	_, part := l.find(g.lines, words)
	return part >= samePart
}

// useful reports whether the session needed an item that the text lists.
func (g *brought) useful(l *lexicon, kind, item string, b *later, needed []need) bool {
	switch kind {
	case fileNeed:
		return b.touches(item)
	case commandNeed:
		return b.commands[item]
	case numberNeed:
		return b.numbers[item]
	}
	words := setOf(contentWords(item))
	one := newPool([]unit{{item, words}})
	for _, n := range needed {
		if n.kind != fileNeed && n.kind != commandNeed && n.kind != numberNeed {
			if _, part := l.find(one, setOf(contentWords(n.text))); part >= samePart {
				return true
			}
		}
	}
	const looser = 0.35
	_, part := l.find(b.done, words)
	_, again := l.find(b.planned, words)
	part = max(part, again)
	for core := range b.commands {
		if kind == openNeed && strings.Contains(item, core) {
			return true
		}
	}
	return part >= looser
}
