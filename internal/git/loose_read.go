package git

import (
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// errAskGit means that the files don't suffice: git has to read the object.
var errAskGit = errors.New("git has to be asked")

// read reads the file of an object. The error is ErrTooMuch above limit bytes, and errAskGit if the
// file is missing or damaged.
func (l *LooseObjects) read(oid OID, limit int64) (Object, error) {
	f, err := os.Open(loosePath(l.dir, oid))
	if err != nil {
		return Object{}, errAskGit
	}
	defer func() { _ = f.Close() }() // it was only read
	in, err := l.inflater(f)
	if err != nil {
		return Object{}, errAskGit
	}
	defer l.inflaters.Put(in)
	kind, size, err := readObjectHeader(in)
	if err != nil {
		return Object{}, err
	}
	if size > limit {
		return Object{}, fmt.Errorf("%s of %d bytes, at most %d are read: %w", kind, size, limit, ErrTooMuch)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(in, data); err != nil {
		return Object{}, errAskGit
	}
	if _, err := io.ReadFull(in, make([]byte, 1)); !errors.Is(err, io.EOF) { // data ends, with the right checksum
		return Object{}, errAskGit
	}
	return Object{OID: oid, Type: kind, Data: data}, nil
}

// inflater returns a reader of the compressed data in f.
func (l *LooseObjects) inflater(f io.Reader) (io.Reader, error) {
	in, ok := l.inflaters.Get().(io.Reader)
	if !ok {
		return zlib.NewReader(f)
	}
	again, ok := in.(zlib.Resetter)
	if !ok {
		return nil, errAskGit
	}
	return in, again.Reset(f, nil)
}

// readObjectHeader reads "<type> <size>" and the following NUL.
func readObjectHeader(in io.Reader) (kind string, size int64, err error) {
	header := make([]byte, 0, 32)
	for {
		if len(header) == cap(header) {
			return "", 0, errAskGit
		}
		at := header[len(header) : len(header)+1]
		if _, err := io.ReadFull(in, at); err != nil {
			return "", 0, errAskGit
		}
		if at[0] == 0 {
			break
		}
		header = header[:len(header)+1]
	}
	kind, digits, _ := strings.Cut(string(header), " ")
	size, err = strconv.ParseInt(digits, 10, 64)
	if err != nil || size < 0 || size > 1<<40 {
		return "", 0, errAskGit
	}
	switch kind {
	case "commit", "tree", "blob", "tag":
		return kind, size, nil
	}
	return "", 0, errAskGit
}
