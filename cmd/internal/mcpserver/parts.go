package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
)

// The maximum tokens of parts of a checkpoint in a result of checkpoint_resume.
const (
	partTokens    = 4000 // the default
	minPartTokens = 200
)

// isPart reports whether parts of the checkpoint are requested.
func (in resumeInput) isPart() bool {
	return len(in.Sections) > 0 || in.File != "" || in.Decision != ""
}

// check returns an error for an invalid input.
func (in resumeInput) check(limit int) error {
	named := 0
	for _, given := range []bool{in.Level != "", len(in.Sections) > 0, in.File != "", in.Decision != ""} {
		if given {
			named++
		}
	}
	switch {
	case named > 1:
		return errors.New("level, sections, file and decision exclude each other")
	case in.MaxTokens != 0 && !in.isPart():
		return errors.New("max_tokens is for sections, file and decision")
	case in.MaxTokens != 0 && (in.MaxTokens < minPartTokens || in.MaxTokens > limit):
		return fmt.Errorf("max_tokens is %d, allowed: %d to %d", in.MaxTokens, minPartTokens, limit)
	}
	switch in.Level {
	case levelSummary, levelContext, levelFull, "":
	default:
		return fmt.Errorf("level is %.40q, allowed: %q, %q or %q", in.Level, levelSummary, levelContext, levelFull)
	}
	return savedcontext.CheckSections(in.Sections)
}

// resumePart returns the requested parts of a checkpoint: sections of the brief separated
// by empty lines, the complete decisions, rules and attempts that have all requested words, or a file. The size
// is limited to the tokens of the input, at most limit.
func resumePart(ctx context.Context, p *Project, id string, in resumeInput, limit int) (result, error) {
	limit = min(cmp.Or(in.MaxTokens, partTokens), limit)
	if len(in.Sections) > 0 {
		const notes = 20 // tokens of the line about an empty section
		list, err := p.Work.Sections(ctx, id, in.Sections, limit-notes*len(in.Sections))
		if err != nil {
			return nil, err
		}
		texts := make([]string, 0, len(list))
		for _, section := range list {
			if section.Text == "" {
				section.Text = "Nothing was recorded of: " + section.Name
			}
			texts = append(texts, section.Text)
		}
		return said(strings.Join(texts, "\n\n")), nil
	}
	c, err := p.Store.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if in.Decision != "" {
		words := strings.Fields(strings.ToLower(in.Decision))
		list := slices.Clone(c.State.Analysis.Decisions)
		for _, f := range c.State.Analysis.Facts {
			if f.Kind == recall.Rule || f.Kind == recall.Attempt {
				list = append(list, string(f.By)+": "+f.Text)
			}
		}
		var found []string
		for _, d := range list {
			lower := strings.ToLower(d)
			if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(lower, w) }) {
				found = append(found, "- "+d)
			}
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("none of the %d decisions of checkpoint %s has all of these words: section \"decisions\" lists them", len(list), c.ID)
		}
		return said(firstLines(strings.Join(found, "\n"), limit, "`entire recall show "+c.ID+"` prints all")), nil
	}
	return resumeFile(ctx, p, c, in.File, limit)
}

// resumeFile returns the stored content of a file.
func resumeFile(ctx context.Context, p *Project, c recall.Checkpoint, path string, limit int) (result, error) {
	f, found := c.State.Files[path]
	if !found {
		names := slices.Sorted(maps.Keys(c.State.Files))
		more := ""
		if len(names) > maxNamed {
			names, more = names[:maxNamed], ", ..."
		}
		return nil, fmt.Errorf("%.200q is not in checkpoint %s; its files are: %s%s", path, c.ID, strings.Join(names, ", "), more)
	}
	if f.Omitted == "" {
		if err := p.Store.ReadContents(ctx, &c, path); err != nil {
			return nil, err
		}
		f = c.State.Files[path]
	}
	if f.Omitted != "" {
		return said(fmt.Sprintf("%s (%s): no content is kept: %s", path, f.Change, f.Omitted)), nil
	}
	const head = 60 // tokens of the first line and the last
	text := firstLines(f.Content, limit-head, "`entire recall show "+c.ID+" --file "+path+"` prints all")
	return said(fmt.Sprintf("%s (%s), as it was saved:\n%s", path, f.Change, text)), nil
}

// firstLines returns the first lines of a text that fit into limit tokens; rest describes
// how to get the rest.
func firstLines(text string, limit int, rest string) string {
	if brief.CountTokens(text) <= limit {
		return text
	}
	note := "[cut; " + rest + "]"
	limit -= brief.CountTokens(note)
	used, end := 0, 0
	for line := range strings.Lines(text) {
		if used += brief.CountTokens(line); used > limit {
			break
		}
		end += len(line)
	}
	return text[:end] + note
}
