package tracking

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// usageSize is the size of a record in the side file of token counts: a hash
// of the message's id and its four counts.
const usageSize = 8 + 4*4

// count returns the tokens that messages add to the total. Each message counts once, by the
// record with the most output: the side file holds the counted tokens of each.
func count(w *workspace.Workspace, s *session.State, n *Pending, messages []transcript.Message) (used session.Tokens, err error) {
	if len(messages) == 0 {
		return used, nil
	}
	counted, err := countedOf(w, s, n, messages)
	if err != nil {
		return used, fmt.Errorf("read token counts: %w", err)
	}
	var added []byte
	for _, m := range messages {
		key := MessageKey(m.ID)
		now := session.Tokens{Input: m.Usage.Input, CacheCreation: m.Usage.CacheCreation, CacheRead: m.Usage.CacheRead, Output: m.Usage.Output, Calls: 1}
		before, known := counted[key]
		if known && before.Output >= now.Output {
			continue
		}
		used = used.Plus(now.Minus(before))
		counted[key] = now
		added = binary.LittleEndian.AppendUint64(added, key)
		for _, n := range []int64{now.Input, now.CacheCreation, now.CacheRead, now.Output} {
			added = binary.LittleEndian.AppendUint32(added, uint32(min(max(n, 0), math.MaxUint32)))
		}
	}
	s.Recorder.Usage = n.usage.Add(s.Recorder.Usage, added)
	return used, nil
}

// MessageKey returns a hash of the id of a message, by which its tokens are counted once.
func MessageKey(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // never fails
	return h.Sum64()
}

// countedOf returns the counted tokens of these messages, which are few among the hundreds of
// thousands of a long session.
func countedOf(w *workspace.Workspace, s *session.State, n *Pending, messages []transcript.Message) (map[uint64]session.Tokens, error) {
	counted := make(map[uint64]session.Tokens, len(messages))
	var maybe [1 << 16]bool // by the low bits of the key
	wanted := make(map[uint64]bool, len(messages))
	for _, m := range messages {
		key := MessageKey(m.ID)
		wanted[key], maybe[uint16(key)] = true, true
	}
	side := w.Sessions.SideOf(s, session.UsageKind)
	err := n.usage.scan(side, s.Recorder.Usage, usageSize, func(records []byte) {
		for ; len(records) >= usageSize; records = records[usageSize:] {
			key := binary.LittleEndian.Uint64(records)
			if maybe[uint16(key)] && wanted[key] {
				at := func(i int) int64 { return int64(binary.LittleEndian.Uint32(records[8+4*i:])) }
				counted[key] = session.Tokens{Input: at(0), CacheCreation: at(1), CacheRead: at(2), Output: at(3), Calls: 1}
			}
		}
	})
	return counted, err
}
