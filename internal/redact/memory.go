package redact

import (
	"slices"
	"sync"

	"github.com/seed-3aff656d/entire/internal/redact/ownrules"
)

const (
	// maxRemembered is the maximum number of secrets that a memory keeps.
	maxRemembered = 128
	// minRemembered is the minimum length of such a secret.
	minRemembered = 12
)

// memory holds the secrets that were found in earlier texts.
type memory struct {
	mu      sync.RWMutex
	version int          // see changes
	known   *knownValues // nil until a secret is added
	// lists are the lists that were recalled, recalled their values: see newKept. The latter is
	// nil until a text is searched.
	lists    [][]byte
	recalled []*keptValues
}

// add adds a secret, if it is random. It reports whether it is new.
func (m *memory) add(secret string) bool {
	if m == nil || len(secret) < minRemembered || len(secret) > maxKnownLen || !ownrules.IsRandomForm([]byte(secret), minRemembered) {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = newKnownValues()
	}
	if len(m.known.values) >= maxRemembered || len(m.known.find([]byte(secret))) > 0 {
		return false
	}
	m.known.add(secret)
	m.version++
	return true
}

// find lists the remembered and recalled secrets in text. Those in other are found by the caller.
func (m *memory) find(text []byte, other *knownValues) (found []Finding) {
	if m == nil {
		return nil
	}
	m.prepare(other)
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.known != nil {
		found = m.known.find(text)
	}
	for _, k := range m.recalled {
		if k != nil {
			found = append(found, k.find(text)...)
		}
	}
	return found
}

// prepare reads the recalled lists.
func (m *memory) prepare(other *knownValues) {
	m.mu.RLock()
	ready := len(m.recalled) == len(m.lists)
	m.mu.RUnlock()
	if ready {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, list := range m.lists[len(m.recalled):] {
		m.recalled = append(m.recalled, newKept(list, other, m.known))
	}
}

// changes returns the number of times that secrets were added.
func (m *memory) changes() int {
	if m == nil {
		return 0
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.version
}

// inDecoded lists the spans of text whose decoded content has one of the needles.
func (n *needles) inDecoded(text []byte, depth int) (spans []span) {
	d := decodedParts(text)
	if depth == 0 || len(d.pieces) == 0 {
		return nil
	}
	for _, s := range slices.Concat(n.in(d.text, nil), n.inDecoded(d.text, depth-1)) {
		if source, inside := d.source(s.begin, s.end); inside {
			spans = append(spans, source)
		}
	}
	return spans
}
