package band

import "github.com/klauspost/compress/zstd"

const (
	// least is the length under which compressing isn't tried.
	least = 64
	// window bounds the memory of an encoder; parts of large files are no longer.
	window = 1 << 20
)

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
