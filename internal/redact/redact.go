// Package redact finds secrets in text and replaces them by REDACTED. Secrets are the
// matches of gitleaks' default rules, which are data in this package with an engine of its
// own, and of the rules in ownrules.
package redact

import (
	"bytes"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed-3aff656d/entire/internal/redact/ownrules"
)

// Mark replaces a secret.
const Mark = ownrules.Mark

// RulesVersion is the version of the rules. It must be raised with every change that makes this package
// or ownrules replace more in some text: a rule, a place, an encoding, a wider pattern, a lower limit.
// Records of lower versions are reported as masked by older rules. What is replaced because of files
// of the worktree, and changes that replace less, don't count.
const RulesVersion = 1

// longestPath is the maximum length of a file's path in bytes.
const longestPath = 4096

// Redactor finds and replaces secrets. It is safe for concurrent use. It builds its tables
// on first use and keeps them.
type Redactor struct {
	finder
}

// finder searches texts for secrets with gitleaks' rules and ours.
type finder struct {
	*engine
	stopped *atomic.Bool // set to stop the search; nil if it can't be stopped
}

// engine is the state that redactors share.
type engine struct {
	automaton func() *automaton
	known     func() *ruleSet // the rules tried on paths
	values    func() *knownValues
	memory    *memory // nil if it has none
	patterns  *[len(rules)]pattern
	allowed   *[len(allowlists)]lazyRegexp
	scratch   sync.Pool // of *scratch
	writers   sync.Pool // of *writer
}

// New returns a Redactor. It is cheap.
func New() *Redactor {
	return &Redactor{finder{engine: &engine{
		automaton: sync.OnceValue(newAutomaton),
		known:     sync.OnceValue(knownRules),
		values:    func() *knownValues { return nil },
		patterns:  new([len(rules)]pattern),
		allowed:   new([len(allowlists)]lazyRegexp),
		scratch:   sync.Pool{New: func() any { return new(scratch) }},
		writers:   sync.Pool{New: func() any { return new(writer) }},
	}}}
}

// WithFilesOf makes r also replace the values in a worktree's files with secrets, and those of the
// environment with such a name, wherever they occur in a text. The files are read when a text is first
// searched. It returns r.
func (r *Redactor) WithFilesOf(worktree string) *Redactor {
	r.values = sync.OnceValue(func() *knownValues { return readKnown(worktree) })
	return r
}

// WithMemory makes r also replace the secrets that it found before, wherever they occur in a later
// text and however they are encoded there. It keeps a bounded number of secrets, of those that can't
// be taken for anything else. Recall and Known pass them on to later processes. It returns r.
func (r *Redactor) WithMemory() *Redactor {
	r.memory = new(memory)
	return r
}

// Fresh returns a Redactor that shares the tables and the values of files with r, and whose memory, if r has
// one, is empty: what it replaces doesn't depend on the texts that r was given.
func (r *Redactor) Fresh() *Redactor {
	e := &engine{automaton: r.automaton, known: r.known, values: r.values, patterns: r.patterns, allowed: r.allowed}
	e.scratch.New, e.writers.New = r.scratch.New, r.writers.New
	if r.memory != nil {
		e.memory = new(memory)
	}
	return &Redactor{finder{engine: e}}
}

// Remembered returns the number of secrets that were found so far and are replaced in later texts. It
// never decreases.
func (r *Redactor) Remembered() int { return r.memory.changes() }

// Finding is one secret in a text.
type Finding struct {
	Rule, Secret string
	Start, End   int // of the secret, in bytes
}

// Find lists the secrets in s by position. It decodes encoded parts of s.
func (r *Redactor) Find(s string) []Finding {
	text := []byte(s)
	return joined(r.find(text, nil), r.findDecoded(text, maxDecode))
}

// FindListed lists the matches of gitleaks' rules in s by position. gitleaks returns the
// same if it ignores its allow comments and decodes nothing.
func (r *Redactor) FindListed(s string) []Finding {
	return r.find([]byte(s), allRules())
}

// Text returns s with its secrets replaced, or s itself if there are none. A found secret
// is replaced everywhere in s.
func (r *Redactor) Text(s string) string {
	if len(s) < shortestText {
		return s
	}
	out, changed := r.rewrite([]byte(s), wholeText)
	if !changed {
		return s
	}
	return string(out)
}

// Line returns one line of JSON with the secrets in its strings replaced, names of members
// included. The strings are searched without escapes. Only the bytes of the secrets are
// replaced, and the line stays valid JSON. A found secret is replaced in all strings of the
// line. If Line finds nothing it returns the given slice; it never writes to it. A line
// that is not valid JSON is treated as text.
func (r *Redactor) Line(line []byte) []byte {
	body := bytes.TrimRight(line, "\r\n")
	if len(body) < shortestText {
		return line
	}
	out, changed := r.rewrite(body, stringsOfLine)
	if !changed {
		return line
	}
	return append(out, line[len(body):]...)
}

// isStopped reports whether the search must end.
func (r *finder) isStopped() bool { return r.stopped != nil && r.stopped.Load() }

// Path returns a file's path with the secrets in it replaced. It searches only for patterns
// that identify a secret by themselves (a token's prefix and form), never for values that
// are suspect because of a preceding name. Each part of the path is also searched alone, in
// full and up to each of its dots. A string too long for a path is treated as text.
func (r *Redactor) Path(p string) string {
	if len(p) < shortestText {
		return p
	}
	active := r.rulesIn([]byte(p))
	if active.and(r.known()); active == (ruleSet{}) {
		return p
	}
	if len(p) > longestPath {
		return r.Text(p)
	}
	var secrets []string
	add := func(s string) {
		for _, f := range r.find([]byte(s), r.known()) {
			secrets = append(secrets, f.Secret)
		}
	}
	add(p)
	for part := range strings.FieldsFuncSeq(p, func(c rune) bool { return c == '/' || c == '\\' }) {
		add(part)
		for i := range len(part) {
			if part[i] == '.' {
				add(part[:i])
			}
		}
	}
	for _, s := range secrets {
		p = strings.ReplaceAll(p, s, Mark)
	}
	return p
}

// rulesIn returns the rules with a keyword in text.
func (r *finder) rulesIn(text []byte) ruleSet {
	sc := r.scratch.Get().(*scratch) //nolint:errcheck // the pool holds nothing else
	defer r.release(sc)
	return r.activeIn(text, sc)
}

func (r *finder) release(sc *scratch) {
	for _, id := range sc.touched {
		sc.places[id] = sc.places[id][:0]
	}
	sc.touched = sc.touched[:0]
	sc.odd, sc.lower, sc.counted = false, false, false
	r.scratch.Put(sc)
}

// pattern holds a rule's expressions, compiled on first use.
type pattern struct {
	full     lazyRegexp    // gitleaks' expression
	anchored [2]lazyRegexp // for the rule's plan, one for each alternative
	then     lazyRegexp    // its end
}

// lazyRegexp is a regular expression compiled on first use. Two goroutines may both compile
// it; one result is kept.
type lazyRegexp struct{ p atomic.Pointer[regexpType] }
