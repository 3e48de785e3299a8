package forget

import (
	"fmt"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/checkpoint/tombstone"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/redact/forgotten"
	"github.com/seed-3aff656d/entire/strategy"
)

// target is what is forgotten, where, and how it is found.
type target struct {
	rec  *strategy.Recorder
	what What
	// progress is never nil.
	progress Progress

	// tombs are the tombstones with what is to be forgotten.
	tombs tombstone.List
	// find finds the text, or what is quoted of the file; nil if neither is to be
	// forgotten. text is the same for a text.
	find finder
	text *forgotten.Masker
	// content is what is known of the file.
	content fileContent
	// list is what is to be forgotten by its id.
	list checkpoint.Forgotten
}

// finder finds what is forgotten in a content, and masks it: JSON stays valid.
type finder interface {
	Has(data []byte) bool
	Mask(data []byte) []byte
	// MaskInPlace is Mask whose result has the length of data.
	MaskInPlace(data []byte) []byte
}

// minText is the length below which a text is part of too much else.
const minText = 6

// CheckText reports why a text can't be forgotten.
func CheckText(text string) error {
	if len(text) < minText {
		return fmt.Errorf("the text is shorter than %d bytes: it would be found in too much else", minText)
	}
	return nil
}

// fileContent is what is known of a file that is forgotten: the objects that have its
// content, and its lines.
type fileContent struct {
	versions map[git.OID]bool
	lines    map[string]bool // by their keys
}

// forgottenPaths are the file that is forgotten and those that belong to it.
func (t *target) forgottenPaths() []string {
	return (&tombstone.List{Files: []string{t.what.File}}).FilePaths()
}
