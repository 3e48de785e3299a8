package redact

import "hash/maphash"

const (
	// maxClean is the maximum length of a text that is cached as a whole.
	maxClean = 63
	// cleanSlots is the number of cached texts.
	cleanSlots = 256
)

// cleanTexts caches texts without findings. The ids, folder, branch and version that each line of a
// transcript repeats are searched only once, and so is the output of a tool, which a line has
// twice. Of longer texts it keeps two hashes.
type cleanTexts struct {
	seed, second maphash.Seed
	slots        *[cleanSlots]cleanSlot
	long         [cleanSlots]textSum
}

// textSum identifies a text by its hashes, which nobody can predict.
type textSum struct{ first, second uint64 }

// sum returns the hashes of a text.
func (c *cleanTexts) sum(text []byte) textSum {
	if c.slots == nil {
		c.start()
	}
	return textSum{maphash.Bytes(c.seed, text), maphash.Bytes(c.second, text)}
}

// holdsLong reports whether the text with these hashes was recorded.
func (c *cleanTexts) holdsLong(sum textSum) bool { return c.long[sum.first%cleanSlots] == sum }

func (c *cleanTexts) setLong(sum textSum) { c.long[sum.first%cleanSlots] = sum }

func (c *cleanTexts) start() {
	c.seed, c.second, c.slots = maphash.MakeSeed(), maphash.MakeSeed(), new([cleanSlots]cleanSlot)
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
		c.start()
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
