package savedcontext

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/memory"
)

// BenchmarkMemory combines what sixty sessions left, each with forty facts and files.
func BenchmarkMemory(b *testing.B) {
	var list []memory.Session
	for i := range maxLeft {
		s := memory.Session{Header: memory.Header{Format: 1, ID: fmt.Sprint("session-", i), At: time.Unix(int64(i), 0), Branch: "topic"}}
		for k := range 40 {
			s.Facts = append(s.Facts, recall.Fact{
				Kind: recall.Decision, By: recall.OfAgent, Files: []string{fmt.Sprintf("dir/file%d.go", k)},
				Text: fmt.Sprintf("kept variant%d of part%d rather than moving the %s to another package", i, k, strings.Repeat("long ", 10)),
			})
			s.Files = append(s.Files, memory.File{Path: fmt.Sprintf("dir/file%d.go", k), Use: memory.Changed, Hash: strings.Repeat("0", 64)})
		}
		list = append(list, s)
	}
	for b.Loop() {
		if m := memory.Of(list, memory.Scope{Branch: "topic"}); len(m.Facts) == 0 {
			b.Fatal("no facts")
		}
	}
}
