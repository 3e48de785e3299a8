package sessionfile

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

const (
	// maxDecompressed is the number of bytes up to which a compressed file is read.
	maxDecompressed = 4 << 30
	// maxWindow is the memory for the decompression of a file.
	maxWindow = 128 << 20
)

// errTooLong means that a compressed file has more than maxDecompressed bytes of content.
var errTooLong = errors.New("it has more than 4 GiB of compressed content")

// uncompressed returns the name of a file without the ending of its compression, and whether it has one.
func uncompressed(name string) (plain string, isCompressed bool) {
	for _, ending := range []string{".gz", ".zst"} {
		if plain, ok := strings.CutSuffix(name, ending); ok && plain != "" {
			return plain, true
		}
	}
	return name, false
}

// decompress returns the content of the file path, whose bytes are src.
func decompress(path string, src io.Reader) (io.ReadCloser, error) {
	switch {
	case strings.HasSuffix(path, ".gz"):
		r, err := gzip.NewReader(src)
		if err != nil {
			return nil, damaged(err)
		}
		return &bounded{src: r, close: r.Close, left: maxDecompressed}, nil
	case strings.HasSuffix(path, ".zst"):
		r, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, damaged(err)
		}
		return &bounded{src: r, close: func() error { r.Close(); return nil }, left: maxDecompressed}, nil
	}
	return io.NopCloser(src), nil
}

// damaged returns the error of a file whose compression can't be read.
func damaged(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("its compressed content is cut off")
	}
	return fmt.Errorf("its compressed content is damaged: %w", err)
}

// bounded reads the content of a compressed file up to a limit.
type bounded struct {
	src   io.Reader
	close func() error
	left  int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.src.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLong
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = damaged(err)
	}
	return n, err
}

func (b *bounded) Close() error { return b.close() }
