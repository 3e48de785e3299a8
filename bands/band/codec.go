package band

import (
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	// least is the length under which compressing isn't tried.
	least = 64
	// window bounds the memory of an encoder; parts of large files are no longer.
	window = 1 << 20
)

// newEncoder returns an encoder that is made when it is first needed.
func newEncoder() func() (*zstd.Encoder, error) {
	return sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithEncoderCRC(false), zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true))
	})
}

// newDecoder returns a decoder that is made when it is first needed.
func newDecoder() func() (*zstd.Decoder, error) {
	return sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(MaxRecord))
	})
}

// compress returns content as it is stored: compressed into buf[:0] if that
// saves an eighth, else itself.
func compress(enc *zstd.Encoder, content, buf []byte) ([]byte, codec) {
	if len(content) < least {
		return content, plain
	}
	if packed := enc.EncodeAll(content, buf[:0]); len(packed) <= len(content)-len(content)/8 {
		return packed, compressed
	}
	return content, plain
}
