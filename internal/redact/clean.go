package redact

import "hash/maphash"

const (
	// maxClean is the length of the longest text that is remembered.
	maxClean = 63
	// cleanSlots is how many texts are remembered.
	cleanSlots = 256
)

// cleanTexts remembers short texts without findings. Each line of a transcript has
// the same ids, folder, branch and version as the line before: they are searched
// once.
type cleanTexts struct {
	seed  maphash.Seed
	slots *[cleanSlots]cleanSlot
}

// cleanSlot holds one text. Its length is 0 if it holds none.
type cleanSlot struct {
	length uint8
	text   [maxClean]byte
}

// slot returns where text is held if it is; nil if it is too long.
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
