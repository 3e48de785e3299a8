package format

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/query"
)

// DeepenHint is the hint if a shallow clone lacks commits.
const DeepenHint = "run `git fetch --unshallow`, or `git fetch --deepen=N`"

// GapJSON is a part of the record or of the history that a clone lacks, in the output of several
// commands; docs/formats/json.md describes it.
type GapJSON struct {
	Part string `json:"part"`
	What string `json:"what"`
	Hint string `json:"hint"`
}

// The parts of GapJSON.
const (
	CheckpointsPart = "checkpoints"
	ContentsPart    = "contents"
	HistoryPart     = "history"
)

func gapOf(gap query.Gap) GapJSON {
	switch gap {
	case query.NoRecord:
		return GapJSON{CheckpointsPart, "the checkpoints are not in this clone", "`entire fetch` fetches them, if the remote has any"}
	case query.NoContents:
		return GapJSON{ContentsPart, "this clone lacks contents of checkpoints", "`entire fetch` fetches them"}
	case query.NoHistory:
	}
	return GapJSON{HistoryPart, "this clone is shallow", DeepenHint}
}

// Gaps describes what a clone lacks, with the commands that fetch it.
func Gaps(gaps []query.Gap) (what, hint string) {
	lacks, fetches := make([]string, 0, len(gaps)), make([]string, 0, len(gaps))
	for _, gap := range gaps {
		g := gapOf(gap)
		lacks, fetches = append(lacks, g.What), append(fetches, g.Hint)
	}
	return strings.Join(lacks, ", and "), strings.Join(fetches, "; ")
}

// GapsOf returns what the clone of a repository lacks, for JSON; linked is defined as in
// query.CheckpointReader.GapsGiven. If that can't be determined it is nothing: `entire doctor` reports the
// error.
func GapsOf(ctx context.Context, repo *git.Repo, linked bool) []GapJSON {
	gaps, err := query.CheckpointReader{Repo: repo}.GapsGiven(ctx, linked)
	if err != nil {
		return nil
	}
	var list []GapJSON
	for _, gap := range gaps {
		list = append(list, gapOf(gap))
	}
	return list
}

// NoteGaps prints a note below a list if the clone lacks checkpoints, which may have more to list:
// their branch, though commits name some, or contents of them. Commits that a shallow clone lacks
// are not checkpoints. linked is defined as in query.CheckpointReader.GapsGiven.
func NoteGaps(ctx context.Context, s ui.Streams, repo *git.Repo, linked bool) {
	gaps, err := query.CheckpointReader{Repo: repo}.GapsGiven(ctx, linked)
	shallow := slices.Contains(gaps, query.NoHistory)
	gaps = slices.DeleteFunc(gaps, func(gap query.Gap) bool {
		return gap == query.NoHistory || gap == query.NoRecord && shallow // the remote may have none
	})
	if err != nil || len(gaps) == 0 {
		return
	}
	what, hint := Gaps(gaps)
	s.Notef("Not everything is shown: %s.", what)
	s.Hint(hint)
}

// HintWithGaps returns the hint for something that wasn't found: if the clone has gaps, what they are,
// with the commands that fetch it; else the given hint.
func HintWithGaps(ctx context.Context, repo *git.Repo, hint string) string {
	gaps, err := query.CheckpointReader{Repo: repo}.Gaps(ctx)
	if err != nil || len(gaps) == 0 { // `entire doctor` reports the error
		return hint
	}
	what, fetch := Gaps(gaps)
	return what + ": " + fetch
}
