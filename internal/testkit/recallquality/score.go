package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/strategy/recall/brief"
)

const (
	firstFiles = 10  // files that count as the second session's first ones
	shortForm  = 400 // maximum tokens for a session about unrelated work
)

// score is the result for a pair.
type score struct {
	pair     pair
	given    given
	verdicts []verdict
	related  bool
	// why is the reason why the sessions are related.
	why                          string
	wanted, known, named, inFull []string // of the first files
	// Files that the given text and the whole brief list, and those of them that the second session
	// touched.
	listed, touched, listedInFull, touchedInFull []string
	tokens, code, atStart, total                 int
	err                                          error
}

// measure repeats a pair and scores the text given to the second session. If reuse is set, it uses
// the brief in the folder of briefs, if there is one.
func measure(ctx context.Context, p pair, rare func(word string) bool, o options) score {
	s := score{pair: p}
	s.given, s.err = storedBrief(o, p)
	if errors.Is(s.err, fs.ErrNotExist) {
		s.given, s.err = makeBrief(ctx, p, o)
	}
	if s.err != nil {
		return s
	}
	// Check the whole brief, and other statements of the given text.
	seen := map[statement]bool{}
	for _, text := range []string{s.given.whole, s.given.start, s.given.prompt} {
		for _, v := range check(text, s.pair.before) {
			if !seen[v.statement] {
				seen[v.statement] = true
				s.verdicts = append(s.verdicts, v)
			}
		}
	}
	s.files()
	s.related, s.why = related(p, rare)

	_, code := statements(s.given.whole)
	s.tokens, s.code = brief.CountTokens(s.given.whole), brief.CountTokens(code)
	s.atStart, s.total = brief.CountTokens(s.given.start), brief.CountTokens(s.given.text())
	return s
}

// makeBrief repeats a pair, and writes the brief into the folder of briefs, if there is one.
func makeBrief(ctx context.Context, p pair, o options) (g given, err error) {
	dir, err := os.MkdirTemp("", "recallquality")
	if err != nil {
		return g, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a detached child may still write to it
	if g, err = repeat(ctx, o.program, dir, p); err != nil || o.briefs == "" {
		return g, err
	}
	if err := os.MkdirAll(o.briefs, 0o700); err != nil {
		return g, err
	}
	return g, os.WriteFile(p.file(o), []byte(strings.Join([]string{g.start, g.prompt, g.whole}, separator)), 0o600)
}

// separator separates the text given at the start, the text given with the first prompt, and the
// whole brief.
const separator = "\n=====\n"

func (p pair) file(o options) string {
	name := strings.NewReplacer("→", "-", " ", "-").Replace(p.name)
	return filepath.Join(o.briefs, name+".txt")
}

// storedBrief returns the brief of an earlier run.
func storedBrief(o options, p pair) (given, error) {
	if !o.reuse {
		return given{}, fs.ErrNotExist
	}
	data, err := os.ReadFile(p.file(o))
	parts := strings.Split(string(data), separator)
	if err == nil && len(parts) != 3 {
		err = fs.ErrNotExist
	}
	if err != nil {
		return given{}, err
	}
	return given{parts[0], parts[1], parts[2]}, nil
}

// files compares the files that the brief names with those that the second session used.
func (s *score) files() {
	a, b := s.pair.before, s.pair.after
	known, _ := a.known()
	all := b.wanted()
	s.wanted = all[:min(len(all), firstFiles)]
	for _, file := range s.wanted {
		if !known[file] {
			continue
		}
		s.known = append(s.known, file)
		if names(s.given.text(), file) {
			s.named = append(s.named, file)
		}
		if names(s.given.whole, file) {
			s.inFull = append(s.inFull, file)
		}
	}
	var used strings.Builder
	for _, e := range b.events {
		switch e.kind {
		case toolCall:
			used.WriteString(e.call.inputs + "\n" + e.call.output + "\n")
		case request, reply:
			used.WriteString(e.text + "\n")
		default:
		}
	}
	touched := func(files []string) []string {
		return slices.DeleteFunc(slices.Clone(files), func(file string) bool { return !slices.Contains(all, file) && !names(used.String(), file) })
	}
	s.listed, s.listedInFull = listed(s.given.text()), listed(s.given.whole)
	s.touched, s.touchedInFull = touched(s.listed), touched(s.listedInFull)
}

var pathLike = regexp.MustCompile(`^[\w@.+/()\[\]-]+\.\w+$|^[\w.-]+/[\w./-]+$|^[A-Z]\w*file$`)

// listed returns the files that the brief lists in its sections of files.
func listed(text string) []string {
	var files []string
	all, _ := statements(text)
	for _, s := range all {
		if !slices.Contains([]string{"files", "working files", "content", "files read", "docs"}, s.section) {
			continue
		}
		about, _, _ := strings.Cut(s.text, " (")
		for name := range strings.SplitSeq(about, ", ") {
			if name = strings.Trim(name, "` "); pathLike.MatchString(name) && !slices.Contains(files, name) {
				files = append(files, name)
			}
		}
	}
	return files
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
