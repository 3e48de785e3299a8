package capture

import (
	"bytes"
	"hash/maphash"
)

// maxCounted is up to how many differing lines the least number of them is looked
// for.
const maxCounted = 2000

// countLines counts lines, the last one also if no newline ends it.
func countLines(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// LinesBetween counts the lines that were added and removed between two texts, as
// differingLines does.
func LinesBetween(before, after string) (added, removed int) {
	return CountChanged([]byte(before), []byte(after))
}

// CountChanged counts the lines that were added and removed between two texts,
// whatever ends the lines: as few as there can be, or, above maxCounted, those that
// one text has and the other hasn't.
func CountChanged(before, after []byte) (added, removed int) {
	seed := maphash.MakeSeed()
	a, b := lineHashes(seed, before), lineHashes(seed, after)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if d, ok := edits(a, b); ok {
		// d = added + removed, and added - removed is the difference in length.
		added = (d + len(b) - len(a)) / 2
		return added, d - added
	}
	return uncommon(a, b)
}

// lineHashes are hashes of the lines, by which they are compared.
func lineHashes(seed maphash.Seed, data []byte) []uint64 {
	hashes := make([]uint64, 0, countLines(data))
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		hashes = append(hashes, maphash.Bytes(seed, bytes.TrimSuffix(line, []byte("\r"))))
		data = rest
	}
	return hashes
}

// edits is the length of the shortest edit script from a to b, by the greedy
// algorithm of Myers; false if it is longer than maxCounted.
func edits(a, b []uint64) (int, bool) {
	if len(a) == 0 || len(b) == 0 {
		return len(a) + len(b), true
	}
	most := min(len(a)+len(b), maxCounted)
	furthest := make([]int, 2*most+3) // by diagonal
	for d := 0; d <= most; d++ {
		for k := -d; k <= d; k += 2 {
			at := k + most + 1
			var x int
			if k == -d || k != d && furthest[at-1] < furthest[at+1] {
				x = furthest[at+1]
			} else {
				x = furthest[at-1] + 1
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			furthest[at] = x
			if x >= len(a) && x-k >= len(b) {
				return d, true
			}
		}
	}
	return 0, false
}

// uncommon counts the lines that one has more often than the other.
func uncommon(a, b []uint64) (added, removed int) {
	count := make(map[uint64]int, len(a))
	for _, line := range a {
		count[line]++
	}
	for _, line := range b {
		if count[line] > 0 {
			count[line]--
		} else {
			added++
		}
	}
	for _, n := range count {
		removed += n
	}
	return added, removed
}
