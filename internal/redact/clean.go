package redact

import "hash/maphash"

const (
	// maxClean is the maximum length of a cached text.
	maxClean = 63
	// cleanSlots is the number of cached texts.
	cleanSlots = 256
)

// cleanTexts caches short texts without findings. The ids, folder, branch and version that
// each line of a transcript repeats are searched only once.
type cleanTexts struct {
	seed  maphash.Seed
	slots *[cleanSlots]cleanSlot
}

// cleanSlot holds one text. Its length is 0 if it is empty.
type cleanSlot struct {
	length uint8
	text   [maxClean]byte
}

// slot returns the slot for text, or nil if text is too long.
func (c *cleanTexts) slot(text []byte) *cleanSlot {
	if len(text) > maxClean {
		return nil
	}
	if c.slots == nil {
		c.seed, c.slots = maphash.MakeSeed(), new([cleanSlots]cleanSlot)
	}
	return &c.slots[maphash.Bytes(c.seed, text)%cleanSlots]
}

func (s *cleanSlot) holds(text []byte) bool {
	return s != nil && string(s.text[:s.length]) == string(text)
}

func (s *cleanSlot) set(text []byte) {
	if s != nil {
		s.length = uint8(copy(s.text[:], text))
	}
}
