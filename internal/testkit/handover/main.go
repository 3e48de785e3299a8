// Command handover measures what sessions are given of the sessions before them. It repeats the
// sessions of working trees in scratch repositories with the program's hooks, and compares the text
// that each session is given with what it turned out to need. Each statement of it is checked
// against the transcripts. The rules of both share no code with the program. The exit status is 1 if
// a statement is false. docs/recall-quality.md has the method and a table.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/seed-3aff656d/entire/strategy/recall/brief"
)

// options are the flags.
type options struct {
	records         string
	histories       string
	memoryCode      string
	tool            string
	program, briefs string
	only, pairs     string
	sample, others  int
	verbose, reuse  bool
}

// errFalse is returned if a statement is false.
var errFalse = errors.New("false statements")

// The halves of the pairs.
const (
	building = "building"
	heldOut  = "held-out"
)

func main() {
	var o options
	flag.StringVar(&o.records, "records", "", "`folders` of transcripts and repositories with checkpoints, separated by spaces")
	flag.StringVar(&o.histories, "histories", "internal/testkit/handover/testdata/histories", "`folder` of made-up histories")
	flag.StringVar(&o.memoryCode, "memorycode", "", "`folder` of dialogues of the benchmark MemoryCode")
	flag.StringVar(&o.tool, "tool", "", "measure the output of a shell `command` instead, which is run in the repository, with the transcripts in $HOME/.claude and the prompt in $PROMPT")
	flag.StringVar(&o.program, "entire", "bin/entire", "`path` of the program")
	flag.StringVar(&o.briefs, "brief", "", "write every brief into a `folder`")
	flag.BoolVar(&o.reuse, "reuse", false, "judge the briefs that are in the folder of -brief; of these pairs nothing is repeated")
	flag.StringVar(&o.only, "only", "", "only the `half` building or held-out")
	flag.StringVar(&o.pairs, "pairs", "", "only pairs whose name has a match of this regular `expression`")
	flag.IntVar(&o.sample, "sample", 0, "only about `n` pairs")
	flag.IntVar(&o.others, "others", 3, "`n` unrelated prompts after each session")
	flag.BoolVar(&o.verbose, "v", false, "list what each pair of the half building needed and was given")
	flag.Parse()
	if flag.NArg() > 0 || !slices.Contains([]string{"", building, heldOut}, o.only) {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "handover:", err)
		os.Exit(1)
	}
}

// run measures all pairs, lists the false statements of those used while building, and writes the
// table.
func run(ctx context.Context, w io.Writer, o options) error {
	var err error
	if o.program, err = filepath.Abs(o.program); err != nil {
		return err
	}
	for _, set := range []struct {
		what, dir, pattern string
		read               func(string) (*history, error)
	}{{"histories", o.histories, "*.txt", readHistory}, {"dialogues of MemoryCode", o.memoryCode, "conversation_*.json", readDialogue}} {
		if set.dir == "" {
			continue
		}
		names, err := filepath.Glob(filepath.Join(set.dir, set.pattern))
		if err != nil {
			return err
		}
		list, err := histories(ctx, w, o, names, set.read)
		if err != nil {
			return err
		}
		goldTable(w, set.what, list)
	}
	if o.records == "" {
		return nil
	}
	s, err := load(ctx, strings.Fields(o.records)...)
	if err != nil {
		return err
	}
	m := &measurement{options: o, lexicon: newLexicon(s.sessions), all: s.sessions}
	folders := s.folders()
	if err := m.choose(folders); err != nil {
		return err
	}
	if err := m.repeat(ctx, folders); err != nil {
		return err
	}
	halves := m.halves()
	wrong := 0
	for _, h := range halves {
		for _, s := range h.scores {
			if h.name == building {
				list(w, s, o.verbose)
			}
			for _, v := range s.verdicts {
				if v.false != "" {
					wrong++
				}
			}
		}
	}
	table(w, halves)
	if wrong > 0 {
		return fmt.Errorf("%d %w", wrong, errFalse)
	}
	return nil
}

// measurement is a run.
type measurement struct {
	options
	lexicon *lexicon
	all     []*transcript
	chosen  map[string]bool // the names of the pairs to measure
	mutex   sync.Mutex
	scores  []score
	others  map[bool][]int // the tokens given after unrelated prompts; of pairs that are held out, or not
}

// choose selects the pairs to measure. A sample has blocks of consecutive pairs, so that few
// sessions have to be repeated.
func (m *measurement) choose(folders []*folder) error {
	name, err := regexp.Compile(m.pairs)
	if err != nil {
		return err
	}
	m.chosen, m.others = map[string]bool{}, map[bool][]int{}
	var list []string
	for _, f := range folders {
		for _, t := range f.sessions {
			p, ok := f.pairs[t]
			for _, p := range append([]pair{p}, f.cuts[t]...) {
				if (ok || p.kind == cutPair) && name.MatchString(p.name) && (m.only == "" || p.held() == (m.only == heldOut)) {
					list = append(list, p.name)
				}
			}
		}
	}
	const block = 10
	every := 1
	if m.sample > 0 {
		every = max(len(list)/m.sample, 1)
	}
	for i, name := range list {
		if i/block%every == 0 {
			m.chosen[name] = true
		}
	}
	if len(list) == 0 {
		return errors.New("no pairs of sessions")
	}
	return nil
}

// repeat measures the chosen pairs, two folders at once.
func (m *measurement) repeat(ctx context.Context, folders []*folder) error {
	const atOnce = 2
	var group sync.WaitGroup
	next := make(chan *folder)
	failed := make(chan error, len(folders))
	for range atOnce {
		group.Go(func() {
			for f := range next {
				failed <- m.folder(ctx, f)
			}
		})
	}
	for _, f := range folders {
		next <- f
	}
	close(next)
	group.Wait()
	close(failed)
	var err error
	for e := range failed {
		err = errors.Join(err, e)
	}
	return err
}

// folder repeats the sessions of a working tree, as far as chosen pairs need them.
func (m *measurement) folder(ctx context.Context, f *folder) error {
	play := m.plays(f)
	if m.reuse {
		m.storedOthers(f)
	}
	if len(play) == 0 {
		return nil
	}
	var sessions []*transcript
	for _, t := range f.sessions {
		if play[t] {
			sessions = append(sessions, t)
		}
	}
	r, err := newReplay(ctx, m.program, m.tool, sessions)
	if err != nil {
		return err
	}
	defer r.close()
	cleared := map[*transcript]bool{}
	for _, p := range f.pairs {
		cleared[p.before] = cleared[p.before] || p.kind == clearPair || p.kind == planPair
	}
	for _, s := range f.steps() {
		if !play[s.session] {
			continue
		}
		if err := m.step(r, f, s, cleared[s.session]); err != nil {
			return fmt.Errorf("%s: %w", short(s.session.id), err)
		}
	}
	return nil
}

// plays returns the sessions that have to be repeated for the chosen pairs.
func (m *measurement) plays(f *folder) map[*transcript]bool {
	play := map[*transcript]bool{}
	for _, t := range f.sessions {
		p, ok := f.pairs[t]
		list := f.cuts[t]
		if ok {
			list = append([]pair{p}, list...)
		}
		for _, p := range list {
			if !m.chosen[p.name] {
				continue
			}
			if g, ok := m.stored(p); ok {
				m.add(m.lexicon.measure(p, g))
				continue
			}
			play[t] = true
			for _, e := range p.earlier {
				if slices.Contains(f.sessions, e) {
					play[e] = true
				}
			}
		}
	}
	return play
}

func (m *measurement) stored(p pair) (given, bool) {
	if !m.reuse {
		return given{}, false
	}
	return storedBrief(p.file(m.briefs))
}

func (m *measurement) add(s score) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.scores = append(m.scores, s)
}

// step repeats the begin or the end of a session, and measures what it is given.
func (m *measurement) step(r *replay, f *folder, s step, cleared bool) error {
	t := s.session
	if !s.begins {
		reason := "prompt_input_exit"
		if cleared {
			reason = "clear"
		}
		if err := r.end(t, reason); err != nil {
			return err
		}
		return m.unrelated(r, f, t)
	}
	for _, p := range f.cuts[t] {
		if m.chosen[p.name] {
			if err := r.try(func() error { return m.cut(r, p) }); err != nil {
				return err
			}
		}
	}
	p := f.pairs[t]
	g, err := r.begin(t, p.kind, p.before != nil && p.before.offersPlan())
	if err != nil || !m.chosen[p.name] {
		return err
	}
	return m.given(r, p, g)
}

// cut repeats the first part of a session, and begins the second.
func (m *measurement) cut(r *replay, p pair) error {
	if _, err := r.begin(p.before, newPair, false); err != nil {
		return err
	}
	if err := r.end(p.before, "prompt_input_exit"); err != nil {
		return err
	}
	g, err := r.begin(p.after, newPair, false)
	if err != nil {
		return err
	}
	return m.given(r, p, g)
}

// given measures a text given to a session.
func (m *measurement) given(r *replay, p pair, g given) error {
	g, err := r.whole(p.after, g)
	if err != nil {
		return err
	}
	g = r.original(g)
	if m.briefs != "" {
		if err := g.store(p.file(m.briefs)); err != nil {
			return err
		}
	}
	m.add(m.lexicon.measure(p, g))
	return nil
}

// otherPairs returns a session with sessions about other work.
func (m *measurement) otherPairs(f *folder, t *transcript) []pair {
	var list []pair
	for _, o := range m.lexicon.others(m.all, append(f.of(t.branch, t), t), m.options.others) {
		p := pair{name: "others/" + short(t.id) + "→" + short(o.id), before: t, after: o}
		if m.only == "" || p.held() == (m.only == heldOut) {
			list = append(list, p)
		}
	}
	return list
}

func (m *measurement) addOther(p pair, g given) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.others[p.held()] = append(m.others[p.held()], brief.CountTokens(g.text()))
}

// storedOthers adds the results of an earlier run.
func (m *measurement) storedOthers(f *folder) {
	for _, t := range f.sessions {
		for _, p := range m.otherPairs(f, t) {
			if g, ok := storedBrief(p.file(m.briefs)); ok {
				m.addOther(p, g)
			}
		}
	}
}

// unrelated begins sessions about other work after a session.
func (m *measurement) unrelated(r *replay, f *folder, t *transcript) error {
	list := m.otherPairs(f, t)
	if m.reuse {
		list = slices.DeleteFunc(list, func(p pair) bool { _, ok := storedBrief(p.file(m.briefs)); return ok })
	}
	if len(list) == 0 {
		return nil
	}
	return r.try(func() error {
		for i, p := range list {
			o := p.after
			so := &transcript{root: o.root, id: fmt.Sprintf("%08d%s", i, o.id[min(len(o.id), shortName):]), firstBranch: t.branch, events: o.events}
			g, err := r.begin(so, newPair, false)
			if err != nil {
				return err
			}
			g = r.original(g)
			if m.briefs != "" {
				if err := g.store(p.file(m.briefs)); err != nil {
					return err
				}
			}
			m.addOther(p, g)
		}
		return nil
	})
}

// halves returns the results by half.
func (m *measurement) halves() []half {
	var halves []half
	for _, h := range []half{{name: building}, {name: heldOut}} {
		for _, s := range m.scores {
			if s.pair.held() == (h.name == heldOut) {
				h.scores = append(h.scores, s)
			}
		}
		slices.SortFunc(h.scores, func(a, b score) int { return strings.Compare(a.pair.name, b.pair.name) })
		h.others = m.others[h.name == heldOut]
		if len(h.scores) > 0 {
			halves = append(halves, h)
		}
	}
	return halves
}
