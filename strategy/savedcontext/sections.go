package savedcontext

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// ErrSection means that a brief has no section of the given name.
var ErrSection = errors.New("unknown section")

// Section is a named section of a brief.
type Section struct {
	Name string `json:"name"`
	// Text is empty if the context has nothing for the section.
	Text string `json:"text"`
	// Tokens is brief.CountTokens of the text.
	Tokens int `json:"tokens"`
}

// CheckSections returns an error that wraps ErrSection and lists the sections if one of
// the names is unknown.
func CheckSections(names []string) error {
	for _, name := range names {
		if !slices.Contains(brief.SectionNames(), name) {
			return fmt.Errorf("%w %.40q; the sections are: %s", ErrSection, name, strings.Join(brief.SectionNames(), ", "))
		}
	}
	return nil
}

// Sections returns the named sections of the checkpoint id, in at most limit tokens together:
// each may use its share of the tokens that the ones before it left. Their texts describe the
// files as they are now.
func Sections(ctx context.Context, w *workspace.Workspace, id string, names []string, limit int) ([]Section, error) {
	if err := CheckSections(names); err != nil {
		return nil, err
	}
	m, err := material(ctx, w, id, brief.Full)
	if err != nil {
		return nil, err
	}
	list := make([]Section, 0, len(names))
	for i, name := range names {
		text, err := brief.Section(m, name, limit/(len(names)-i))
		if err != nil {
			return nil, err
		}
		s := Section{Name: name, Text: text, Tokens: brief.CountTokens(text)}
		limit -= s.Tokens
		list = append(list, s)
	}
	return list, nil
}
