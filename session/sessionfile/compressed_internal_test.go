package sessionfile

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestBounded: content beyond the limit is an error, not a file that ends there.
func TestBounded(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int64]error{9: errTooLong, 10: nil} {
		text, err := io.ReadAll(&bounded{src: strings.NewReader("0123456789"), left: limit})
		if !errors.Is(err, want) || want == nil && len(text) != 10 {
			t.Errorf("%d: %q, %v", limit, text, err)
		}
	}
}
