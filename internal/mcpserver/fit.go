package mcpserver

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/brief"
)

const (
	// clientTokens is what Claude Code takes as one result unless configured otherwise.
	clientTokens = 25000
	// maxNamed is how many left out files an answer names.
	maxNamed = 20
	// What is left of lists and texts if nothing else helps.
	fewItems = 10
	fewBytes = 300
)

// fitted is a checkpoint of which something may be left out.
type fitted struct {
	// Message is what a person is shown of it, if that is the point of the result:
	// of an answer with fields a client may show nothing else.
	Message string `json:"message,omitempty"`

	recall.Checkpoint

	// LeftOut describes what is missing, for want of room, and where it is.
	LeftOut []string `json:"left_out,omitempty"`
}

// withoutContents is the checkpoint without the contents of its files. Those of
// c stay.
func withoutContents(c recall.Checkpoint) recall.Checkpoint {
	c.State.Files = maps.Clone(c.State.Files)
	for path, f := range c.State.Files {
		f.Content = ""
		c.State.Files[path] = f
	}
	return c
}

// limit is how many tokens an answer may have, with a tenth for what the client
// counts otherwise.
func (s *Server) limit() int {
	limit := s.Tokens
	if limit <= 0 {
		limit = clientTokens
	}
	return limit - limit/10 //nolint:mnd // a tenth
}

// tokens is the size of v as JSON.
func tokens(v any) int {
	text, err := encode(v)
	if err != nil {
		return 0 // sending it returns the error
	}
	return brief.CountTokens(string(text))
}

// fit is as much of a checkpoint as limit tokens have room for: the contents of as many
// files as possible, the smallest first, and the rest whole if there is any way.
func fit(c recall.Checkpoint, message string, limit int) fitted {
	out := fitted{Message: message, Checkpoint: withoutContents(c)}
	for _, shorten := range []func(*fitted) string{noCompaction, noOutlines, noReading, fewFiles, shortLists} {
		for tokens(out) > limit {
			what := shorten(&out)
			if what == "" {
				break
			}
			if !slices.Contains(out.LeftOut, what) {
				out.LeftOut = append(out.LeftOut, what)
			}
		}
	}
	// The contents that there is room for, and the names of the others.
	paths := slices.SortedFunc(maps.Keys(out.State.Files), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(c.State.Files[a].Content), len(c.State.Files[b].Content)), cmp.Compare(a, b))
	})
	var left []string
	room := limit - tokens(out) - (maxNamed+1)*len(out.ID) // the names need some
	for _, path := range paths {
		f := c.State.Files[path]
		if f.Content == "" {
			continue
		}
		bare := out.State.Files[path]
		full := bare
		full.Content = f.Content
		need := tokens(f.Content)
		if need > room {
			left = append(left, path)
			continue
		}
		room -= need
		out.State.Files[path] = full
	}
	for i, path := range left {
		if i == maxNamed {
			out.LeftOut = append(out.LeftOut, fmt.Sprintf("contents of %d more files: `entire recall show %s --json`", len(left)-i, out.ID))
			break
		}
		out.LeftOut = append(out.LeftOut, fmt.Sprintf("content of %.200s: `entire recall show %s --file <path>`", path, out.ID))
	}
	return out
}

// The steps of shortening. Each returns what it left out, nothing if there is
// no more of it.

func noCompaction(out *fitted) string {
	if out.Compaction == "" {
		return ""
	}
	out.Compaction = ""
	return "compaction_summary: `entire recall show " + out.ID + "`"
}

func noOutlines(out *fitted) string {
	found := false
	for path, f := range out.State.Files {
		found = found || len(f.Outline) > 0
		f.Outline = nil
		out.State.Files[path] = f
	}
	if !found {
		return ""
	}
	return "outlines of files: `entire recall show " + out.ID + " --json`"
}

func noReading(out *fitted) string {
	at := &out.State.Context
	if len(at.FilesRead)+len(at.Commands) == 0 {
		return ""
	}
	at.FilesRead, at.Commands = nil, nil
	return "commands, files_read: `entire recall show " + out.ID + "`"
}

// fewFiles halves the files, those that were changed last stay.
func fewFiles(out *fitted) string {
	files := out.State.Files
	if len(files) == 0 {
		return ""
	}
	paths := slices.SortedFunc(maps.Keys(files), func(a, b string) int {
		return cmp.Or(files[b].LastModified.Compare(files[a].LastModified), cmp.Compare(a, b))
	})
	for _, path := range paths[len(paths)/2:] {
		delete(files, path)
	}
	return "some of the files: `entire recall show " + out.ID + " --json`"
}

// shortLists cuts every list and text, once.
func shortLists(out *fitted) string {
	const what = "the rest of lists and texts: `entire recall show "
	told := what + out.ID + "`"
	if slices.Contains(out.LeftOut, told) {
		return ""
	}
	a, at := &out.State.Analysis, &out.State.Context
	for _, list := range []*[]string{
		&a.NextSteps, &a.Decisions, &a.Blockers, &a.RelevantDocs, &at.RecentCommands, &at.RelevantPackages,
		&out.Tags, &out.Sessions, &out.Checkpoints, &out.Warnings,
	} {
		cut := make([]string, 0, fewItems)
		for _, item := range (*list)[:min(len(*list), fewItems)] {
			cut = append(cut, short(item))
		}
		*list = cut
	}
	for _, text := range []*string{&out.Summary, &out.Description, &a.CurrentTask, &at.WorkingDirectory, &at.GitBranch} {
		*text = short(*text)
	}
	return told
}

// short is the beginning of a text.
func short(text string) string {
	if len(text) <= fewBytes {
		return text
	}
	cut := fewBytes
	for cut > 0 && text[cut]&0xc0 == 0x80 { //nolint:mnd // inside of a character
		cut--
	}
	return text[:cut] + "..."
}
