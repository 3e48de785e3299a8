package strategy

import (
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// What the tests of the pure parts look at.
var (
	Amends            = amends            //nolint:gochecknoglobals // a name for tests
	SkipGlobalOptions = skipGlobalOptions //nolint:gochecknoglobals // a name for tests
	IsRevert          = isRevert          //nolint:gochecknoglobals // a name for tests
	LastDone          = lastDone          //nolint:gochecknoglobals // a name for tests
	DecodeKnown       = decodeKnown       //nolint:gochecknoglobals // a name for tests
	EncodeKnown       = encodeKnown       //nolint:gochecknoglobals // a name for tests
	Unique            = unique            //nolint:gochecknoglobals // a name for tests
)

// Split cuts a message into prose and comments.
func Split(text, mark string) (prose, rest string) {
	m := splitMessage("", text, mark)
	return m.prose, m.rest
}

// During is turnChanges.during for a turn.
func During(turn session.Turn) *turnChanges { return &turnChanges{turn: turn, repo: &git.Repo{}} }

// At exposes during.
var At = (*turnChanges).during //nolint:gochecknoglobals // a name for tests

// Shares is a link's blobs against what is staged.
func Shares(blobs map[string]git.OID, changes map[string]git.Change) bool {
	return sharesBlob(link{ID: checkpoint.ID("0123456789ab"), Blobs: blobs}, changes)
}
