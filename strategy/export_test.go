package strategy

import (
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// What the tests of the pure parts look at.
var (
	Amends            = amends
	SkipGlobalOptions = skipGlobalOptions
	IsRevert          = isRevert
	LastDone          = lastDone
	DecodeKnown       = decodeKnown
	EncodeKnown       = encodeKnown
	Unique            = unique
)

// Split cuts a message into prose and comments.
func Split(text, mark string) (prose, rest string) {
	m := splitMessage("", text, mark)
	return m.prose, m.rest
}

// During is turnChanges.during for a turn.
func During(turn session.Turn) *turnChanges { return &turnChanges{turn: turn, repo: &git.Repo{}} }

// At exposes during.
var At = (*turnChanges).during

// Shares is a link's blobs against what is staged.
func Shares(blobs map[string]git.OID, changes map[string]git.Change) bool {
	return sharesBlob(link{ID: checkpoint.ID("0123456789ab"), Blobs: blobs}, changes)
}

// KnownAfter is turnChanges.after.
func KnownAfter(known map[string]bool, asked []string, entries []git.StatusEntry) map[string]bool {
	return (&turnChanges{known: known}).after(asked, entries)
}

// RangeLines reads ranges of lines.
var RangeLines = rangeLines

// Ranges writes lines as ranges.
func Ranges(lines []int) string {
	var r ranges
	for _, line := range lines {
		r = r.with(line)
	}
	return r.String()
}

// ReadPush reads the arguments of git push.
var ReadPush = readPush

// PushCall is what matters of them.
type PushCall = pushCall

// What is asked for a summary, and what is taken from the answer.
var (
	SummaryPrompt = summaryPrompt
	ReadSummary   = readSummary
	Shorten       = shorten
)
