package band

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// maxOpen bounds the number of open bands.
const maxOpen = 256

// place identifies a band file: the folder's index and the band.
type place struct {
	dir  int
	band uint32
}

// handle is an open band.
type handle struct {
	file  *os.File
	users int
	used  uint64 // clock at the last take
}

// handles keeps bands open, each once.
type handles struct {
	dirs []string

	mu    sync.Mutex // guards the fields below
	open  map[place]*handle
	clock uint64
}

// take returns the open band and counts one more user.
func (h *handles) take(p place) (*handle, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	if got := h.open[p]; got != nil {
		got.users++
		got.used = h.clock
		return got, nil
	}
	f, err := os.Open(filepath.Join(h.dirs[p.dir], FileName(p.band)))
	if err != nil {
		return nil, err
	}
	if h.open == nil {
		h.open = map[place]*handle{}
	}
	if len(h.open) >= maxOpen {
		// Close the band that has been unused for the longest time. If all are in use none is
		// closed until the end.
		var oldest place
		var found *handle
		for p, got := range h.open {
			if got.users == 0 && (found == nil || got.used < found.used) {
				oldest, found = p, got
			}
		}
		if found != nil {
			delete(h.open, oldest)
			_ = found.file.Close() // only read from
		}
	}
	h.open[p] = &handle{file: f, users: 1, used: h.clock}
	return h.open[p], nil
}

// openLength opens a file; the error is ErrDamaged if it is shorter than length.
func openLength(path string, length int64) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() < length {
		err = fmt.Errorf("it has %d bytes of %d: %w", info.Size(), length, ErrDamaged)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
