package mcpserver

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
)

const (
	// clientTokens is the default maximum of one result in Claude Code.
	clientTokens = 25000
	// maxNamed is the maximum number of omitted files that a result names.
	maxNamed = 20
	// The maximum sizes of lists and texts after the last step of shortening.
	fewItems = 10
	fewBytes = 300
)

// fitted is a checkpoint with parts omitted if necessary.
type fitted struct {
	// Message is the text for the person, if the result is for them. A client may show only
	// this field of a structured result.
	Message string `json:"message,omitempty"`

	recall.Checkpoint

	// LeftOut describes the parts omitted for lack of room and where to find them.
	LeftOut []string `json:"left_out,omitempty"`
}

// withoutContents returns a copy of the checkpoint without the contents of its files. It
// does not modify c.
func withoutContents(c recall.Checkpoint) recall.Checkpoint {
	c.State.Files = maps.Clone(c.State.Files)
	for path, f := range c.State.Files {
		f.Content = ""
		c.State.Files[path] = f
	}
	return c
}

// limit returns the maximum number of tokens of a result. It reserves a tenth for
// differences from the client's count.
func (s *Server) limit() int {
	limit := s.Tokens
	if limit <= 0 {
		limit = clientTokens
	}
	return limit - limit/10 //nolint:mnd // a tenth
}

// tokens returns the size of v as JSON in tokens.
func tokens(v any) int {
	text, err := encode(v)
	if err != nil {
		return 0 // sending it returns the error
	}
	return brief.CountTokens(string(text))
}

// fit returns as much of a checkpoint as fits into limit tokens: everything except
// contents, shortened only if necessary, and the contents of as many files as possible, the
// smallest first.
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
	// Add the contents that fit, and the names of the other files.
	paths := slices.SortedFunc(maps.Keys(out.State.Files), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(c.State.Files[a].Content), len(c.State.Files[b].Content)), cmp.Compare(a, b))
	})
	var left []string
	room := limit - tokens(out) - (maxNamed+1)*len(out.ID) // less some for the names
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

// The steps of shortening. Each returns a description of the part that it omitted, or "" if
// there was nothing to omit.

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

// fewFiles halves the number of files. It keeps those changed last.
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

// shortLists cuts every list and text. It does so only once.
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
			cut = append(cut, short(item, fewBytes))
		}
		*list = cut
	}
	for _, text := range []*string{&out.Summary, &out.Description, &a.CurrentTask, &at.WorkingDirectory, &at.GitBranch} {
		*text = short(*text, fewBytes)
	}
	return told
}

// short returns the beginning of a text, of most bytes.
func short(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return plain.Head(text, most) + "..."
}
