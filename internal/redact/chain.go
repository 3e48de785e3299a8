package redact

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// The lines of a file may be the strings of an array, and a long text may be in several blocks. A
// secret in such a chain of strings may span several of them, or its name may be in another one, so
// the strings are searched as one text.

// maxChain is the maximum length of a chain that is searched as one text.
const maxChain = 1 << 20

// chain links the strings of an array, and the texts of blocks, each to the next one.
func (w *writer) chain(text []byte) {
	block := -1 // the last text of a block
	for i := range w.segs {
		g := &w.segs[i]
		last := int(g.before) - 1
		if last < 0 && g.name > 0 {
			if label := w.segs[g.name-1]; string(text[label.begin:label.end]) == "text" {
				last, block = block, i
			}
		}
		if last < 0 {
			continue
		}
		w.segs[last].next, g.prev = int32(i+1), int32(last+1)
	}
}

// findChain finds the secrets in the chain that begins with segment i, and passes them to add by
// segment.
func (w *writer) findChain(r *Redactor, text []byte, i int, add func(int, *Finding)) {
	var list []int
	size, longest := 0, 0
	for k := i; k >= 0; k = int(w.segs[k].next) - 1 {
		list = append(list, k)
		size += w.segs[k].end - w.segs[k].begin
		longest = max(longest, w.segs[k].end-w.segs[k].begin)
	}
	if size > maxChain {
		for _, k := range list {
			for _, f := range w.findOnce(r, w.read(w.segs[k], text)) {
				add(k, &f)
			}
		}
		return
	}
	// Strings of one character each are the characters of a text, others its lines.
	line := longest > utf8.UTFMax
	joined := make([]byte, 0, size+len(list))
	starts := make([]int, len(list))
	for n, k := range list {
		starts[n] = len(joined)
		joined = append(joined, w.read(w.segs[k], text)...)
		if line {
			joined = append(joined, '\n')
		}
	}
	for _, f := range w.findOnce(r, joined) {
		n, exact := slices.BinarySearch(starts, f.Start)
		if !exact {
			n--
		}
		for ; n < len(list) && starts[n] < f.End; n++ {
			end := len(joined)
			if n+1 < len(list) {
				end = starts[n+1]
			}
			begin, end := max(starts[n], f.Start), min(end, f.End)
			part := bytes.TrimRight(joined[begin:end], "\n")
			if len(part) > 0 {
				add(list[n], &Finding{Rule: f.Rule, Secret: string(part), Start: begin - starts[n], End: begin - starts[n] + len(part)})
			}
		}
	}
}
