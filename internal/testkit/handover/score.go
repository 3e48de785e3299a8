package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/strategy/recall/brief"
)

const shortForm = 400 // maximum tokens for a session about unrelated work

// score is the result for a pair.
type score struct {
	pair     pair
	given    given
	verdicts []verdict
	relation relation
	why      string // of the relation
	needs    []needed
	// The items that the given text and the whole brief list.
	items, itemsInFull           []item
	tokens, code, atStart, total int
}

// needed is a need, and whether the text given and the whole brief have it.
type needed struct {
	need
	given, inFull bool
}

// item is something that a text lists.
type item struct {
	kind, text string
	useful     bool // the session needed it
}

// measure scores the text given to the second session of a pair.
func (l *lexicon) measure(p pair, g given) score {
	s := score{pair: p, given: g}
	s.relation, s.why = l.relate(p)
	// Check the whole brief, and other statements of the given text.
	seen := map[statement]bool{}
	for _, text := range []string{g.whole, g.start, g.prompt} {
		for _, v := range check(text, p.begun...) {
			if !seen[v.statement] {
				seen[v.statement] = true
				s.verdicts = append(s.verdicts, v)
			}
		}
	}
	b := newLater(p.after)
	short, whole := newBrought(g.text()), newBrought(g.whole)
	needs := l.needs(p, b)
	for _, n := range needs {
		s.needs = append(s.needs, needed{n, short.has(l, n), whole.has(l, n)})
	}
	for _, kind := range needKinds {
		for _, text := range short.items[kind] {
			s.items = append(s.items, item{kind, text, short.useful(l, kind, text, b, needs)})
		}
		for _, text := range whole.items[kind] {
			s.itemsInFull = append(s.itemsInFull, item{kind, text, whole.useful(l, kind, text, b, needs)})
		}
	}
	_, code := statements(g.whole)
	s.tokens, s.code = brief.CountTokens(g.whole), brief.CountTokens(code)
	s.atStart, s.total = brief.CountTokens(g.start), brief.CountTokens(g.text())
	return s
}

// full reports whether the session was given more than the short form.
func (s score) full() bool { return s.total > shortForm }

// missed reports whether a related session was given only a part: no more than the short form of a
// brief that has more.
func (s score) missed() bool { return s.relation == related && isPart(s.total, s.tokens) }

// isPart reports whether a text given is the short form of a brief that is longer.
func isPart(given, whole int) bool { return given <= shortForm && given < whole-whole/tenth }

// separator separates the text given at the start, the text given with the first prompt, the whole
// brief, and the durations of the hooks.
const separator = "\n=====\n"

// file returns the file of a pair's brief, in the folder of briefs. Those that are held out have a
// folder of their own.
func (p pair) file(dir string) string {
	name := strings.NewReplacer("→", "-", " ", "-").Replace(p.name) + ".txt"
	if p.held() {
		return filepath.Join(dir, "held-out", name)
	}
	return filepath.Join(dir, name)
}

// store writes a brief into the folder of briefs.
func (g given) store(name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	times := fmt.Sprintln(g.atStart.elapsed.Milliseconds(), g.atStart.processor.Milliseconds(), g.atPrompt.elapsed.Milliseconds(), g.atPrompt.processor.Milliseconds())
	return os.WriteFile(name, []byte(strings.Join([]string{g.start, g.prompt, g.whole, times}, separator)), 0o600)
}

// storedBrief returns the brief of an earlier run, and false if there is none.
func storedBrief(name string) (g given, ok bool) {
	data, err := os.ReadFile(name)
	parts := strings.Split(string(data), separator)
	if err != nil || len(parts) != 4 {
		return g, false
	}
	g = given{start: parts[0], prompt: parts[1], whole: parts[2]}
	var ms [4]int
	_, err = fmt.Sscan(parts[3], &ms[0], &ms[1], &ms[2], &ms[3])
	of := func(elapsed, processor int) took {
		return took{time.Duration(elapsed) * time.Millisecond, time.Duration(processor) * time.Millisecond}
	}
	g.atStart, g.atPrompt = of(ms[0], ms[1]), of(ms[2], ms[3])
	return g, err == nil
}

// names reports whether a text contains a path that is not part of a longer one.
func names(text, file string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], file)
		if i < 0 {
			return false
		}
		begin, end := at+i, at+i+len(file)
		if (end == len(text) || !inPath(text[end])) && (begin == 0 || !inPath(text[begin-1]) || text[begin-1] == '/') {
			return true
		}
		at = end
	}
}

func inPath(c byte) bool {
	return c == '/' || c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
