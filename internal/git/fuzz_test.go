package git_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
)

func FuzzDecodeTree(f *testing.F) {
	f.Add([]byte("100644 a\x00" + strings.Repeat("x", 20)))
	f.Add([]byte("40000 d\x00" + strings.Repeat("x", 19)))
	f.Add([]byte(" \x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, format := range []git.Format{git.SHA1, git.SHA256} {
			entries, err := git.DecodeTree(data, format)
			for _, e := range entries {
				if err == nil && !format.Valid(e.OID) {
					t.Errorf("entry %v", e)
				}
			}
		}
	})
}

// FuzzDecodeCommit checks that any parsed signature, written and parsed again, stays the same.
func FuzzDecodeCommit(f *testing.F) {
	f.Add("a <b@c> 1700000000 +0100", "message\n")
	f.Add(" <> 0 -0000", "")
	f.Add("a <b> c> 99999999999999999999 +9999", "\n\n")
	f.Add("<<<", "x")
	f.Fuzz(func(t *testing.T, author, message string) {
		c, err := git.ParseCommit(git.Object{Type: "commit", Data: []byte("tree x\nauthor " + author + "\n\n" + message)})
		if err != nil {
			return
		}
		line := c.Author.String()
		again, err := git.ParseCommit(git.Object{Type: "commit", Data: []byte("tree x\nauthor " + line + "\n\n")})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(line, again.Author.String()); diff != "" {
			t.Errorf("%q (-first +second):\n%s", author, diff)
		}
	})
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("[core]\n\tbare = \"tr\\\nue\" # x\n[a \"b\"]\nc"))
	f.Add([]byte("[core]a=\\"))
	f.Add([]byte("[core \"\\"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		git.ParseConfig(data, func(git.ConfigEntry) {})
	})
}
