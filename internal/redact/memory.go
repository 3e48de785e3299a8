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
	mu    sync.RWMutex
	known *knownValues // nil until a secret is added
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
	if m.known.count >= maxRemembered || len(m.known.find([]byte(secret))) > 0 {
		return false
	}
	m.known.add(secret)
	return true
}

// find lists the remembered secrets in text.
func (m *memory) find(text []byte) []Finding {
	if m == nil {
		return nil
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.known == nil {
		return nil
	}
	return m.known.find(text)
}

// size returns the number of remembered secrets. It only grows.
func (m *memory) size() int {
	if m == nil {
		return 0
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.known == nil {
		return 0
	}
	return m.known.count
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
