package authorship

import (
	"context"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

// contents reads the contents of files, up to a limit.
type contents struct {
	repo *git.Repo
	room int // bytes that may still be read
}

// states reads the contents of a file after steps. The content of the blob known was read before.
// States that are unknown or can't be read are omitted.
func (c *contents) states(ctx context.Context, steps []tracking.AuthoredStep, known git.OID, content []byte) []attribution.State {
	var states []attribution.State
	for _, s := range steps {
		state := attribution.State{By: attribution.Author(s.By), Turn: s.Turn, Content: content, Raw: s.Raw, Early: s.Early, Unsure: s.Unsure, Unproven: s.Unproven}
		ok := s.Blob != tracking.UnknownBlob
		if ok && s.Blob != known {
			state.Content, ok = c.read(ctx, s.Blob)
		}
		if ok {
			states = append(states, state)
		}
	}
	return states
}

// read reads a blob. For GoneBlob it returns no content.
func (c *contents) read(ctx context.Context, blob git.OID) ([]byte, bool) {
	if blob == tracking.GoneBlob {
		return nil, true
	}
	object, err := c.repo.Read(ctx, string(blob))
	if err != nil || object.Type != "blob" {
		return nil, false
	}
	c.room -= len(object.Data)
	return object.Data, len(object.Data) <= largestFile
}
