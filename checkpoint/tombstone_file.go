package checkpoint

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/redact/forgotten"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// AddFile adds the path of a file, relative to a worktree's root and separated by slashes.
func (t *Tombstones) AddFile(path string) {
	t.Files = slices.Compact(slices.Sorted(slices.Values(append(slices.Clip(t.Files), path))))
}

// AddLines adds the lines of the files, given by their keys from forgotten.LineKeys.
func (t *Tombstones) AddLines(random io.Reader, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	if err := t.makeSalt(random); err != nil {
		return err
	}
	known := map[string]bool{}
	marks := slices.Clone(t.Lines)
	for m := range slices.Chunk(marks, forgotten.LineMarkLen) {
		known[string(m)] = true
	}
	for _, key := range keys {
		mark := forgotten.MarkLine([]byte(t.Salt), key)
		if !known[string(mark)] && len(marks) < maxForgottenLines*forgotten.LineMarkLen {
			known[string(mark)] = true
			marks = append(marks, mark...)
		}
	}
	t.Lines = marks
	return nil
}

// maxForgottenLines is the maximum number of lines of all forgotten files: each hook reads them.
const maxForgottenLines = 8192

// FilePaths returns the forgotten files. A database and its logs are forgotten together.
func (t *Tombstones) FilePaths() []string {
	suffixes := []string{"-journal", "-wal", "-shm"} // of files that belong to a database
	paths := make([]string, 0, len(t.Files)*(1+len(suffixes)))
	for _, path := range t.Files {
		for _, suffix := range suffixes {
			if base, ok := strings.CutSuffix(path, suffix); ok && base != "" && !strings.HasSuffix(base, "/") {
				path = base
				break
			}
		}
		paths = append(paths, path)
		for _, suffix := range suffixes {
			paths = append(paths, path+suffix)
		}
	}
	return paths
}

// TombstoneMasker masks forgotten texts in records, and quotations of forgotten files in
// transcripts.
type TombstoneMasker struct {
	texts  *forgotten.Masker
	quotes *transcript.QuotedFiles
}

// Masker returns a masker for the forgotten texts and files, nil if there are none. roots returns
// the worktrees in which the files may be; it is called only if files were forgotten.
func (t *Tombstones) Masker(roots func() []string) *TombstoneMasker {
	m := TombstoneMasker{texts: t.Forgetter(), quotes: t.Quotes(roots)}
	if m.texts == nil && m.quotes == nil {
		return nil
	}
	return &m
}

// Quotes returns a finder of quotations of forgotten files, as used by TombstoneMasker, nil if no
// files were forgotten.
func (t *Tombstones) Quotes(roots func() []string) *transcript.QuotedFiles {
	paths := slices.Compact(slices.Sorted(slices.Values(slices.Concat(t.Files, t.Paths))))
	if len(paths) == 0 {
		return nil
	}
	return transcript.NewQuotedFiles(paths, roots(), forgotten.NewLines([]byte(t.Salt), t.Lines))
}

// Mask replaces forgotten texts and quotations. JSON stays valid; without any, data is returned.
func (m *TombstoneMasker) Mask(data []byte) []byte {
	if m.quotes != nil {
		data = m.quotes.Mask(data)
	}
	if m.texts != nil {
		data = m.texts.Mask(data)
	}
	return data
}

// MaskContext is like Mask, but returns an error soon after ctx ends.
func (m *TombstoneMasker) MaskContext(ctx context.Context, data []byte) ([]byte, error) {
	if m.quotes != nil {
		data = m.quotes.Mask(data)
	}
	if m.texts == nil {
		return data, ctx.Err()
	}
	return redact.MaskContext(ctx, m.texts, data)
}
