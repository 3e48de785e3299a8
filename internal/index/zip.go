package index

import (
	"errors"

	"github.com/klauspost/compress/zstd"
)

// mostText is the maximum size of a decompressed text.
const mostText = 1 << 20

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
