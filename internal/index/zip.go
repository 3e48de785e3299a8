package index

import (
	"errors"

	"github.com/klauspost/compress/zstd"
)

// mostText bounds a text that is decompressed.
const mostText = 1 << 20

func (w *Writer) compress(text string) []byte {
	if w.zip == nil {
		zip, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(128<<10))
		if err != nil {
			panic(err) // the options are valid
		}
		w.zip = zip
	}
	return w.zip.EncodeAll([]byte(text), nil)
}

func newDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostText))
}

func decompress(d *zstd.Decoder, z []byte) (string, error) {
	text, err := d.DecodeAll(z, nil)
	if err != nil {
		return "", errors.Join(ErrLost, err)
	}
	return string(text), nil
}
