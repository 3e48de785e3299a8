package testkit

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// Example returns the bytes of an example in a page that describes a format: a block below "<!--
// example: NAME -->", with lines of hex digits in pairs, two spaces and a remark.
func Example(tb testing.TB, page, name string) []byte {
	tb.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "<!-- example: "+name+" -->\n```\n")
	if !ok {
		tb.Fatalf("there is no example %q", name)
	}
	block, _, _ := strings.Cut(rest, "```")
	var all []byte
	for line := range strings.Lines(block) {
		digits, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
		data, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, data...)
	}
	return all
}
