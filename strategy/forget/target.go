package forget

import (
	"fmt"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/redact/forgotten"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// target holds what is forgotten, in which repository, and how it is found. Its methods search and
// clean the places of the records: files, transcripts, snapshots, objects. Content that is to be
// forgotten is said to match.
type target struct {
	w    *workspace.Workspace
	what What
	// progress is never nil.
	progress Progress

	// tombs are the tombstones, including those of the content to forget.
	tombs checkpoint.Tombstones
	// find finds the text, or quotes of the file; nil if neither is to be forgotten. text equals
	// find if a text is to be forgotten, and is nil otherwise.
	find finder
	text *forgotten.Masker
	// content is the known content of the file.
	content fileContent
	// searched holds the objects that were read, and whether they match.
	searched map[git.OID]bool
	// list has the ids of the items to forget.
	list checkpoint.Forgotten
}

// finder finds content to forget and masks it: JSON stays valid.
type finder interface {
	Has(data []byte) bool
	Mask(data []byte) []byte
	// MaskInPlace is Mask whose result has the length of data.
	MaskInPlace(data []byte) []byte
}

// texts returns the texts to forget.
func (w *What) texts() []string {
	if w.Text != "" {
		return []string{w.Text}
	}
	return w.Secrets
}

// minText is the minimum length of a text: a shorter one is part of too many others.
const minText = 6

// CheckText returns an error if a text can't be forgotten.
func CheckText(text string) error {
	if len(text) < minText {
		return fmt.Errorf("the text is shorter than %d bytes: it would match too much", minText)
	}
	return nil
}

// fileContent is the known content of a file to forget: the objects with its content, and its
// lines.
type fileContent struct {
	versions map[git.OID]bool
	lines    map[string]bool // by their keys
}

// forgottenPaths returns the file to forget and those that belong to it.
func (t *target) forgottenPaths() []string {
	return (&checkpoint.Tombstones{Files: []string{t.what.File}}).FilePaths()
}
