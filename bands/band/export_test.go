package band

// Length returns the length of a band, including data that Flush has yet to write; 0 if there is
// no such band.
func (w *Writer) Length(n uint32) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tail != nil && w.tail.number == n {
		return w.tail.end()
	}
	if length, ok := w.lengths[n]; ok {
		return length
	}
	f, err := StatFile(w.dir, n)
	if err != nil {
		return 0
	}
	return f.Length
}
