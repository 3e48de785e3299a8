package checkpoint

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func FuzzMetadata(f *testing.F) {
	f.Add([]byte(`{"session_id":"s1","files_touched":null,"created_at":"2026-01-02T03:04:05Z","x":{"y":[1,2]}}`))
	f.Add([]byte(`{"checkpoint_id":7,"sessions":{},"token_usage":[],"Session_ID":"a","transcript_path":"../.bashrc"}`))
	f.Add([]byte(`{"summary":null,"created_at":"9999-99-99","checkpoints_count":1e99,"":"","a\u0000b":"\ud800"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := decodeSession(data); err == nil {
			out, err := m.encode()
			if err != nil {
				t.Fatal(err)
			}
			again, err := decodeSession(out)
			if err != nil || !json.Valid(out) {
				t.Fatalf("%s: %v", out, err)
			}
			if second, err := again.encode(); err != nil || string(second) != string(out) {
				t.Errorf("%s\nonce more:\n%s\n%v", out, second, err)
			}
			safe := m.checked()
			if diff := cmp.Diff(safe, safe.checked(), cmpopts.IgnoreUnexported(SessionMeta{})); diff != "" {
				t.Error(diff)
			}
		}
		if s, err := decodeSummary(data); err == nil {
			if out, err := s.encode(); err != nil || !json.Valid(out) {
				t.Fatalf("%s: %v", out, err)
			}
		}
	})
}
