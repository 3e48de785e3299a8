package blame

import (
	"context"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/strategy/authorship"
)

// uncommitted finds the authors of the lines that no commit has.
func (at *attributing) uncommitted(ctx context.Context, path string, content []byte, groups []*group) error {
	var own []*Line
	var added checkpoint.LineRanges
	for _, g := range groups {
		if g.commit == "" {
			own = append(own, g.lines...)
		}
	}
	if len(own) == 0 {
		return nil
	}
	slices.SortFunc(own, func(a, b *Line) int { return a.Number - b.Number })
	for _, l := range own {
		added = added.With(l.Number)
	}
	found, err := at.Uncommitted.Uncommitted(ctx, authorship.WorktreeFile{Path: path, Content: content, Added: added})
	if err != nil {
		return err
	}
	for _, l := range own {
		author := Author{Kind: Unknown}
		if by, known := found[l.Number]; known && by.Session != "" {
			author = Author{
				Kind: Agent, Agent: by.Agent, Session: by.Session, Turn: by.Turn, Number: by.Number,
				Call: by.Writer.Call, Subagent: by.Writer.Subagent, Type: by.Writer.Type,
			}
		} else if known {
			author = Author{Kind: Person}
		}
		l.Author = at.author(author)
	}
	return nil
}
