package checkpoint

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/redact/forgotten"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// Tombstones is the list of the data forgotten in a repository. Its file is
// <git common dir>/entire/forgotten.json, which is neither cloned nor pushed.
type Tombstones struct {
	Forgotten

	// Salt is the salt of the hashes below.
	Salt string `json:"salt,omitempty"`
	// Texts are the texts that were forgotten here. Those that were in the history of the metadata
	// branch are also in Marks, and so on the branch.
	Texts []forgotten.Text `json:"texts,omitempty"`
	// Files are paths in a worktree that are kept out of snapshots, shadow branches and saved
	// contexts.
	Files []string `json:"files,omitempty"`
	// Lines are marks of lines of these files.
	Lines []byte `json:"lines,omitempty"`
	// Replaced are the commits of the metadata branch that were rewritten. A remote with one of
	// them still has the forgotten data.
	Replaced []git.OID `json:"replaced,omitempty"`
	// Unswept is set while refs and reflogs here may still reach data that other clones have
	// forgotten.
	Unswept bool `json:"unswept,omitempty"`
	// Verified is a commit of the metadata branch that, with its history, has nothing of this list.
	Verified git.OID `json:"verified,omitempty"`
}

// IsEmpty reports whether nothing was forgotten.
func (t *Tombstones) IsEmpty() bool { return t.Empty() && len(t.Texts)+len(t.Files) == 0 }

// saltBytes is the length of the salt.
const saltBytes = 16

// TombstonesPath returns the path of the list's file.
func TombstonesPath(commonDir string) string {
	return filepath.Join(commonDir, "entire", "forgotten.json")
}

// LoadTombstones reads the list of a repository, given its common git directory. A missing file is
// an empty list, an unreadable one an error.
func LoadTombstones(commonDir string) (Tombstones, error) {
	var t Tombstones
	if _, err := disk.ReadJSON(TombstonesPath(commonDir), &t); err != nil {
		return t, fmt.Errorf("read the list of forgotten content: %w", err)
	}
	return t, nil
}

// Save writes the list durably.
func (t *Tombstones) Save(commonDir string) error {
	t.Forgotten = t.With(Forgotten{})
	path := TombstonesPath(commonDir)
	if err := disk.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return disk.WriteJSON(path, t)
}

// makeSalt creates the salt if there is none. A salt of the branch is used again, so that texts
// that several clones forget don't have to be searched for with several salts.
func (t *Tombstones) makeSalt(random io.Reader) error {
	if t.Salt == "" && len(t.Marks) > 0 {
		t.Salt = t.Marks[0].Salt
	}
	if t.Salt != "" {
		return nil
	}
	salt := make([]byte, saltBytes)
	if _, err := io.ReadFull(random, salt); err != nil {
		return fmt.Errorf("make a salt: %w", err)
	}
	t.Salt = hex.EncodeToString(salt)
	return nil
}

// AddText adds a text and returns a masker for it.
func (t *Tombstones) AddText(random io.Reader, text string) (*forgotten.Masker, error) {
	if err := t.makeSalt(random); err != nil {
		return nil, err
	}
	f := forgotten.Of([]byte(t.Salt), text)
	known := map[string]bool{}
	for _, old := range t.Texts {
		known[string(old.Hash)] = true
	}
	for _, mark := range forgotten.MarkText([]byte(t.Salt), text) {
		if !known[string(mark.Hash)] {
			t.Texts = append(t.Texts, mark)
		}
	}
	return f, nil
}

// own returns the texts that were forgotten here.
func (t *Tombstones) own() []forgotten.Marks {
	if len(t.Texts) == 0 {
		return nil
	}
	return []forgotten.Marks{{Salt: t.Salt, Forms: t.Texts}}
}

// Forgetter returns a masker for the forgotten texts, of this and other clones, nil if there are
// none.
func (t *Tombstones) Forgetter() *forgotten.Masker {
	return forgotten.New(forgotten.Union(t.own(), t.Marks))
}

// Publish adds the given text to the list of the branch.
func (t *Tombstones) Publish(text string) {
	t.Marks = forgotten.Union(t.Marks, []forgotten.Marks{{Salt: t.Salt, Forms: forgotten.MarkText([]byte(t.Salt), text)}})
}

// PublishAll adds the texts that were forgotten here to the list of the branch.
func (t *Tombstones) PublishAll() { t.Marks = forgotten.Union(t.Marks, t.own()) }

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
