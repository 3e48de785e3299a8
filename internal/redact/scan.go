package redact

import (
	"math/bits"
	"slices"

	"github.com/seed-3aff656d/entire/internal/redact/chars"
	"github.com/seed-3aff656d/entire/internal/redact/ownrules"
)

// pieceLen is the length of the prefix of a literal that the automaton matches; the rest is
// compared.
const pieceLen = 4

const (
	// Non-ASCII runes that match the letters k and s when case is ignored. Plans are not
	// valid for texts with them.
	kelvinSign = "\u212a"
	longS      = "\u017f"
	// Its lower case is the letter i, so it may be part of a keyword.
	dottedI = "\u0130"
)

const (
	flagOut   = 1 << 15 // in automaton.next: literals end in this state
	stateBits = flagOut - 1
	classBits = 6
)

// automaton finds the literals of all rules in one pass, ignoring case (Aho-Corasick over
// the first bytes of each literal).
type automaton struct {
	class [256]uint8
	next  []uint16               // state<<classBits | class -> state, flagOut
	out   [][]uint16             // literals whose prefix ends in a state
	rules [len(literals)]ruleSet // rules with the literal as a keyword
	start [allLiterals]bool      // literals whose positions are needed
	text  [allLiterals]string
	own   [allLiterals]uint8 // index of our rule to try there, plus 1
}

// allLiterals is the number of literals: those of gitleaks' rules, followed by ours.
const allLiterals = len(literals) + len(ownrules.Literals)

// The ids of odd runes.
const (
	foldID = uint16(allLiterals + iota)
	dotID
)

func newAutomaton() *automaton {
	a := &automaton{next: make([]uint16, 0, 1<<16), out: make([][]uint16, 0, 1024)}
	a.grow()
	classes := uint8(0)
	insert := func(id uint16, lit string) {
		state := uint16(0)
		for i := range min(len(lit), pieceLen) {
			c := &a.class[lit[i]]
			if *c == 0 {
				classes++
				*c = classes
				if 'a' <= lit[i] && lit[i] <= 'z' {
					a.class[lit[i]-'a'+'A'] = classes
				}
			}
			slot := int(state)<<classBits | int(*c)
			if a.next[slot] == 0 {
				a.next[slot] = a.grow()
			}
			state = a.next[slot]
		}
		a.out[state] = append(a.out[state], id)
	}
	for id, lit := range literals {
		a.text[id] = lit
		insert(uint16(id), lit)
	}
	for k := range ownrules.Literals {
		lit := &ownrules.Literals[k]
		id, listed := slices.BinarySearch(literals[:], lit.Text)
		if !listed {
			id = len(literals) + k
			a.text[id] = lit.Text
			insert(uint16(id), lit.Text)
		}
		a.start[id], a.own[id] = true, lit.Rule+1
	}
	insert(foldID, kelvinSign)
	insert(foldID, longS)
	insert(dotID, dottedI)
	a.link()
	for i := range rules {
		for _, k := range rules[i].keywords {
			a.rules[k].add(i)
		}
		a.mark(&rules[i])
	}
	return a
}

func (a *automaton) grow() uint16 {
	state := uint16(len(a.out))
	var row [1 << classBits]uint16
	a.next = append(a.next, row[:]...)
	a.out = append(a.out, nil)
	return state
}

// link adds the transitions of each state's longest proper suffix.
func (a *automaton) link() {
	fail := make([]uint16, len(a.out))
	queue := make([]uint16, 0, len(a.out))
	for _, child := range a.next[:1<<classBits] {
		if child != 0 {
			queue = append(queue, child)
		}
	}
	for i := 0; i < len(queue); i++ {
		state := queue[i]
		row := a.next[int(state)<<classBits:][:1<<classBits]
		back := a.next[int(fail[state])<<classBits:][:1<<classBits]
		if inherited := a.out[fail[state]]; len(inherited) > 0 {
			a.out[state] = append(a.out[state], inherited...)
		}
		for c, child := range row {
			if child == 0 {
				row[c] = back[c]
				continue
			}
			fail[child] = back[c]
			queue = append(queue, child)
		}
	}
	for slot, state := range a.next {
		if len(a.out[state]) > 0 {
			a.next[slot] |= flagOut
		}
	}
}

// mark marks the literals whose positions the rule's plan needs.
func (a *automaton) mark(u *rule) {
	for _, s := range u.starts {
		a.start[s.lit] = true
	}
	if u.then != nil {
		for _, s := range u.then.starts {
			a.start[s.lit] = true
		}
	}
	for k := range u.either {
		a.mark(&u.either[k])
	}
}

const (
	// minSplit is the minimum length of a block that is scanned by scanSplit.
	minSplit = 64
	// scanBlock is the size of a block. It limits the number of hits that scanSplit
	// buffers.
	scanBlock = 1 << 16
)

// scan records the positions of the literals of text in sc.
func (a *automaton) scan(text []byte, sc *scratch) {
	v := uint16(0)
	for begin := 0; begin < len(text); {
		end := min(begin+scanBlock, len(text))
		if end-begin < minSplit {
			v = a.scanRange(text, begin, end, v, sc)
		} else {
			v = a.scanSplit(text, begin, end, v, sc)
		}
		begin = end
	}
}

// scanRange scans text[begin:end] from state v on and returns the last state.
func (a *automaton) scanRange(text []byte, begin, end int, v uint16, sc *scratch) uint16 {
	for i := begin; i < end; i++ {
		if v = a.step(v, text[i]); v&flagOut != 0 {
			a.emit(text, i+1, a.out[v&stateBits], sc)
		}
	}
	return v
}

// scanSplit is scanRange with the quarters of the range interleaved, because each step of
// an automaton depends on the previous one. Each quarter starts pieceLen-1 bytes early, so
// that the state at its first byte doesn't depend on earlier bytes.
func (a *automaton) scanSplit(text []byte, begin, end int, v0 uint16, sc *scratch) uint16 {
	size := (end - begin) / 4
	quarter := func(k int) ([]byte, uint16) {
		from, v := begin+k*size, uint16(0)
		for _, b := range text[from-pieceLen+1 : from] {
			v = a.step(v, b)
		}
		return text[from : from+size], v
	}
	t0 := text[begin : begin+size]
	t1, v1 := quarter(1)
	t2, v2 := quarter(2)
	t3, v3 := quarter(3)
	for k := range sc.hits {
		sc.hits[k] = sc.hits[k][:0]
	}
	for i := range t0 {
		v0, v1, v2, v3 = a.step(v0, t0[i]), a.step(v1, t1[i]), a.step(v2, t2[i]), a.step(v3, t3[i])
		if (v0|v1|v2|v3)&flagOut == 0 {
			continue
		}
		if v0&flagOut != 0 {
			a.emit(text, begin+i+1, a.out[v0&stateBits], sc)
		}
		for k, v := range [...]uint16{v1, v2, v3} {
			if v&flagOut != 0 {
				sc.hits[k] = append(sc.hits[k], literalHit{begin + (k+1)*size + i + 1, v & stateBits})
			}
		}
	}
	for k := range sc.hits {
		for _, h := range sc.hits[k] {
			a.emit(text, h.end, a.out[h.state], sc)
		}
	}
	return a.scanRange(text, begin+4*size, end, v3, sc)
}

// literalHit is a position where literals' prefixes end, and the state with their list.
type literalHit struct {
	end   int
	state uint16
}

func (a *automaton) step(v uint16, b byte) uint16 {
	return a.next[int(v&stateBits)<<classBits|int(a.class[b])]
}

// emit records those of the literals with a prefix ending at end that occur in full.
func (a *automaton) emit(text []byte, end int, ids []uint16, sc *scratch) {
	for _, id := range ids {
		if id >= foldID {
			sc.odd = sc.odd || id == foldID
			sc.lower = true
			continue
		}
		lit := a.text[id]
		if len(sc.places[id]) > 0 && !a.start[id] {
			continue
		}
		at := end - min(len(lit), pieceLen)
		if len(lit) > pieceLen && !chars.HasFold(text[end:], lit[pieceLen:]) {
			continue
		}
		if len(sc.places[id]) == 0 {
			sc.touched = append(sc.touched, id)
		}
		sc.places[id] = append(sc.places[id], at)
	}
}

// active returns the set of rules with a keyword in the scanned text.
func (a *automaton) active(sc *scratch) ruleSet {
	var set ruleSet
	for _, id := range sc.touched {
		if int(id) < len(literals) {
			for i := range set {
				set[i] |= a.rules[id][i]
			}
		}
	}
	return set
}

// scratch holds the buffers for the search of one text, reused for the next.
type scratch struct {
	places  [allLiterals][]int // of each literal
	touched []uint16           // the found literals
	odd     bool               // the text has a rune that folds to k or s
	lower   bool               // keywords must be searched in the lower-case text
	starts  []int              // see places
	ends    []int              // see seeker.init
	breaks  []int              // line breaks of the text
	counted bool

	hits [3][]literalHit // see scanSplit
}

// ruleSet is a set of indexes of rules.
type ruleSet [(len(rules) + 63) / 64]uint64

func (s *ruleSet) add(i int) { s[i>>6] |= 1 << (i & 63) }

// all yields the indexes in the set, in order.
func (s *ruleSet) all(yield func(int) bool) {
	for k, w := range s {
		for ; w != 0; w &= w - 1 {
			if !yield(k<<6 | bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}

func (s *ruleSet) and(o *ruleSet) {
	for i := range s {
		s[i] &= o[i]
	}
}

// knownRules returns the set of rules whose pattern alone identifies a secret.
func knownRules() *ruleSet {
	var set ruleSet
	for i := range rules {
		if rules[i].known {
			set.add(i)
		}
	}
	return &set
}

// allRules returns the set of all gitleaks' rules.
func allRules() *ruleSet {
	var set ruleSet
	for i := range rules {
		set.add(i)
	}
	return &set
}
