package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/redact"
)

// transcript returns size bytes of JSON lines: those below ENTIRE_SAMPLES if that is set, then
// generated prose, code and logs.
func transcript(tb testing.TB, size int) []byte {
	tb.Helper()
	var all []byte
	if dir := os.Getenv("ENTIRE_SAMPLES"); dir != "" {
		files, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
		if err != nil {
			tb.Fatal(err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				tb.Fatal(err)
			}
			all = append(append(all, bytes.TrimSpace(data)...), '\n')
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := 0; len(all) < size; i++ {
		all = append(append(all, madeUpLine(tb, rng, i)...), '\n')
	}
	all = all[:size]
	return all[:bytes.LastIndexByte(all, '\n')+1]
}

func madeUpLine(tb testing.TB, rng *rand.Rand, i int) []byte {
	tb.Helper()
	words := strings.Fields(`func return err != nil { } token := lexer.Next() key, value cache auth handler "access denied"
		if the secret of curl https://example.com/api is in range context.Background() password git sk-learn import from`)
	var b strings.Builder
	for range 400 {
		b.WriteString(words[rng.IntN(len(words))])
		b.WriteByte(" \n\t "[rng.IntN(4)])
	}
	line, err := json.Marshal(map[string]any{
		"type": "assistant", "uuid": fmt.Sprintf("%016x-%d", rng.Uint64(), i),
		"message": map[string]any{"role": "assistant", "content": []any{map[string]string{"type": "text", "text": b.String()}}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return line
}

func lines(r *redact.Redactor, data []byte) {
	for line := range bytes.Lines(data) {
		r.Line(line)
	}
}

// BenchmarkFirst measures the cost in each process: a new Redactor and its tables.
func BenchmarkFirst(b *testing.B) {
	for _, size := range []int{20 << 10, 200 << 10} {
		data := transcript(b, size)
		planted := append(append([]byte(nil), data...), `{"a":"api_key = \"`+genericValue()+`\" `+githubToken()+`"}`+"\n"...)
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			for b.Loop() {
				lines(redact.New(), data)
			}
		})
		b.Run(fmt.Sprintf("%dKB with secrets", size>>10), func(b *testing.B) {
			for b.Loop() {
				lines(redact.New(), planted)
			}
		})
	}
}

func BenchmarkLines(b *testing.B) {
	data := transcript(b, 50<<20)
	r := redact.New()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		lines(r, data)
	}
}

func BenchmarkHostile(b *testing.B) {
	blob := make([]byte, 3<<20)
	chacha := rand.NewChaCha8([32]byte{})
	if _, err := chacha.Read(blob); err != nil {
		b.Fatal(err)
	}
	texts := map[string]string{
		"image":      base64.StdEncoding.EncodeToString(blob),
		"web tokens": strings.Repeat("ey"+strings.Repeat("A", 20)+".ey"+strings.Repeat("B", 20)+"/", 1<<14),
		"curl":       strings.Repeat("curl -u ", 1<<17),
		"keys":       strings.Repeat("key=abcdefghij,", 1<<16),
		"pem":        strings.Repeat("-----BEGIN PRIVATE "+"KEY-----\n", 1<<15),
		"atlassian":  strings.Repeat("jira ", 1<<17),
	}
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				redact.New().Find(text)
			}
		})
	}
}
