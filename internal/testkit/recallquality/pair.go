package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/brief"
	"github.com/seed-3aff656d/entire/internal/recall/digest"
)

// pair is a session, and the one that went on after it.
type pair struct {
	name, kind    string
	before, after [][]byte
}

// result is what the brief of a pair is worth.
type result struct {
	pair    pair
	brief   brief.Brief
	peak    int64
	files   []string // that the second session read or edited
	edited  []string // that it edited
	known   []string // of them, those that the first had read or edited
	named   []string
	held    []string
	changed int // files that the first session changed
	claims  int
	false   []string
}

// cut makes pairs of one session: at each compaction, and in the middle of its
// prompts.
func cut(name string, list [][]byte) []pair {
	var pairs []pair
	var prompts []int
	for i, line := range list {
		r, ok := parse(line)
		if ok && r.Type == "system" && r.Subtype == "compact_boundary" {
			pairs = append(pairs, pair{name: short(name), kind: "cut at compaction", before: list[:i], after: list[i:]})
		}
		if ok && r.prompt() {
			prompts = append(prompts, i)
		}
	}
	const enough = 3
	if len(prompts) >= enough {
		at := prompts[len(prompts)/2]
		pairs = append(pairs, pair{name: short(name), kind: "cut at prompt", before: list[:at], after: list[at:]})
	}
	return pairs
}

// verbatim keeps texts as they are: what is redacted is no matter here.
type verbatim struct{}

func (verbatim) Text(s string) string { return s }
func (verbatim) Path(s string) string { return s }

func (verbatim) TextContext(_ context.Context, s string) (string, error) { return s, nil }

func (p pair) measure() result {
	a, b := look(p.before), look(p.after)
	m := material(a, p.before)
	m.Now = b.began
	m.Present = present(m, a, b)
	r := result{pair: p, brief: brief.Write(m), peak: a.peak, changed: len(m.Checkpoint.State.Files)}
	var d digest.Digest
	for _, line := range p.after {
		d.Line(line, verbatim{})
	}
	for _, path := range slices.Concat(b.read, b.edited, d.Read) {
		if rel := a.inside(path); rel != "" && !slices.Contains(r.files, rel) && fileLike(rel) {
			r.files = append(r.files, rel)
		}
	}
	for _, path := range b.edited {
		if rel := a.inside(path); rel != "" {
			r.edited = append(r.edited, rel)
		}
	}
	text := strings.Join(r.brief.Parts, "\n")
	for _, rel := range r.files {
		if slices.ContainsFunc(slices.Concat(a.read, a.edited), func(path string) bool { return a.inside(path) == rel }) {
			r.known = append(r.known, rel)
		}
		if strings.Contains(text, rel) {
			r.named = append(r.named, rel)
		}
		if slices.Contains(r.brief.Whole, rel) || slices.Contains(r.brief.Hunks, rel) {
			r.held = append(r.held, rel)
		}
	}
	r.verify(a, m)
	return r
}

func fileLike(rel string) bool { return filepath.Ext(rel) != "" || !strings.Contains(rel, "*") }

// material is the checkpoint that the first session leaves, made of its
// transcript; the tree is what its edits say.
func material(a *session, lines [][]byte) brief.Material {
	var d digest.Digest
	for _, line := range lines {
		d.Line(line, verbatim{})
	}
	m := brief.Material{Kind: brief.Full, Parts: 2, Base: map[string]string{}, Branch: a.branch}
	src := digest.Sources{Root: a.root, Branch: a.branch}
	files := map[string]recall.File{}
	for i, path := range a.edited {
		rel := a.inside(path)
		if rel == "" {
			continue
		}
		f := recall.File{Path: rel, Change: recall.Modified, LastModified: a.began.Add(time.Duration(i) * time.Second)}
		if a.base[path] == nil {
			f.Change = recall.Added
		} else {
			m.Base[rel] = *a.base[path]
		}
		if text := a.tree[path]; text != nil && !a.lost[path] {
			f.Content, f.Hash, f.Size = *text, hash(*text), int64(len(*text))
		} else {
			f.Omitted = recall.Unreadable
		}
		files[rel] = f
		src.Files = append(src.Files, rel)
	}
	src.Added, src.Removed = figures(files, m.Base)
	m.Checkpoint = recall.Checkpoint{
		ID: "000000-000000", Summary: d.Summary(src), Description: d.Description(src), CreatedAt: a.ended, Cause: recall.Clear, Compaction: d.Compaction,
		State: recall.State{Files: files, Analysis: d.Analysis(src), Context: d.Context(src)},
	}
	m.Checkpoint.State.Context.GitBranch = a.branch
	return m
}

// figures count changed lines roughly: each that one text has more often.
func figures(files map[string]recall.File, base map[string]string) (added, removed int) {
	for rel, f := range files {
		if f.Omitted != "" {
			continue
		}
		counts := map[string]int{}
		for line := range strings.Lines(f.Content) {
			counts[line]++
		}
		for line := range strings.Lines(base[rel]) {
			counts[line]--
		}
		for _, n := range counts {
			added, removed = added+max(n, 0), removed+max(-n, 0)
		}
	}
	return added, removed
}

// present are the files as the second session found them, where it looked, else
// as the first left them.
func present(m brief.Material, a, b *session) map[string]brief.Present {
	now := map[string]brief.Present{}
	for rel, f := range m.Checkpoint.State.Files {
		p := brief.Present{Exists: true, Hash: f.Hash}
		if text, ok := b.seen[filepath.Join(a.root, rel)]; ok && f.Hash != "" && !sameText(text, f.Content) {
			p.Hash, p.Content = hash(text), text
		}
		now[rel] = p
	}
	return now
}

// sameText compares what a read shows with a file: it leaves out the last line
// end.
func sameText(a, b string) bool { return strings.TrimRight(a, "\n") == strings.TrimRight(b, "\n") }

func hash(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}
