package digest_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/strategy/recall/digest"
)

// typical returns about size bytes of a typical transcript.
func typical(size int) []byte {
	code := strings.Repeat("\tif err := run(ctx, \"name\", opts); err != nil {\n\t\treturn fmt.Errorf(\"run %s: %w\", name, err)\n\t}\n", 30)
	var b bytes.Buffer
	for n := 0; b.Len() < size; n++ {
		path := fmt.Sprintf("/w/pkg/f%d.go", n%90)
		lines := all(
			asked(fmt.Sprintf("please do step %d of the plan", n)),
			said("I look at it. "+code[:800]),
			used(fmt.Sprint("r", n), "Read", fmt.Sprintf(`{"file_path":%q}`, path)),
			done(fmt.Sprint("r", n), code, fmt.Sprintf(`{"type":"text","file":{"content":%s}}`, quote(code))),
			used(fmt.Sprint("e", n), "Edit", fmt.Sprintf(`{"file_path":%q,"old_string":%s,"new_string":%s}`, path, quote(code[:600]), quote(code[:700]))),
			done(fmt.Sprint("e", n), "ok", fmt.Sprintf(`{"originalFile":%s}`, quote(code))),
			ran(fmt.Sprintf("go test ./pkg/%d", n%7), "ok  \tpkg\n"+code[:1500]),
			`{"type":"file-history-snapshot","messageId":"x","snapshot":{"trackedFileBackups":{}},"isSnapshotUpdate":false}`,
		)
		b.WriteString(strings.Join(lines, "\n") + "\n")
	}
	return b.Bytes()
}

func BenchmarkDigest20MB(b *testing.B) {
	const size = 20 << 20
	path := written(b, typical(size))
	texts := redact.New()
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		var d digest.Digest
		if _, err := d.Catch(b.Context(), path, texts, 0); err != nil || d.Prompts == 0 {
			b.Fatal(err)
		}
	}
}

// BenchmarkDigestNew20KB reads the new lines of a transcript, as a stop hook does.
func BenchmarkDigestNew20KB(b *testing.B) {
	text := typical(2 << 20)
	cut := bytes.LastIndexByte(text[:len(text)-20<<10], '\n') + 1
	path := written(b, text[:cut])
	texts := redact.New()
	var before digest.Digest
	if _, err := before.Catch(b.Context(), path, texts, 0); err != nil {
		b.Fatal(err)
	}
	extend(b, path, text[cut:])
	b.ReportAllocs()
	for b.Loop() {
		d := before
		if _, err := d.Catch(b.Context(), path, texts, 0); err != nil || d.Prompts == before.Prompts {
			b.Fatal(err)
		}
	}
}

// BenchmarkDigestFirst20KB reads 20 KB with a new redactor.
func BenchmarkDigestFirst20KB(b *testing.B) {
	path := written(b, typical(20<<10))
	for b.Loop() {
		var d digest.Digest
		if _, err := d.Catch(b.Context(), path, redact.New(), 0); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDigestSamples reads 20 MB made of real transcripts.
func BenchmarkDigestSamples(b *testing.B) {
	const size = 20 << 20
	paths := samples(b)
	if len(paths) == 0 {
		b.Skip("no samples")
	}
	text := joined(b, paths)
	path := written(b, bytes.Repeat(text, size/len(text)+1))
	b.SetBytes(int64(len(text) * (size/len(text) + 1)))
	for b.Loop() {
		var d digest.Digest
		if _, err := d.Catch(b.Context(), path, redact.New(), 0); err != nil {
			b.Fatal(err)
		}
	}
}
