package contextstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// maxMetadata is the maximum size of the metadata, in bytes.
const maxMetadata = 16 << 20

const (
	// maxContents is the maximum size of all contents, in bytes.
	maxContents = 256 << 20
	// A content is at most growth times the size of its file, plus minContent: redaction
	// replaces even a short secret by a mark of eight bytes.
	growth     = 4
	minContent = 64 << 10
)

// minPrefix is the minimum number of digits in a prefix of an id.
const minPrefix = 4

// Find returns the only id with the prefix, which has at least four digits, with or without
// the dash. It returns ErrNotFound or ErrAmbiguous otherwise.
func (s Store) Find(ctx context.Context, prefix string) (string, error) {
	digits := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(prefix)), "-", "")
	if len(digits) < minPrefix || len(digits) > 12 || !plain.IsHex(digits) {
		return "", fmt.Errorf("%q: %w", prefix, recall.ErrNotFound)
	}
	refs, err := s.commits().all(ctx)
	if err != nil {
		return "", fmt.Errorf("find context checkpoint %q: %w", prefix, err)
	}
	found := ""
	for id := range refs {
		switch {
		case !strings.HasPrefix(strings.Replace(id, "-", "", 1), digits):
		case found != "":
			return "", fmt.Errorf("%q: %w", prefix, recall.ErrAmbiguous)
		default:
			found = id
		}
	}
	if found == "" {
		return "", fmt.Errorf("%q: %w", prefix, recall.ErrNotFound)
	}
	return found, nil
}

// Get returns a saved context without the contents of its files, which Contents reads.
func (s Store) Get(ctx context.Context, id string) (recall.Checkpoint, error) {
	d, err := s.commits().load(ctx, id)
	if err != nil {
		return recall.Checkpoint{}, fmt.Errorf("context checkpoint %s: %w", id, err)
	}
	return d.checkpoint(), nil
}

// ReadContents reads the contents of the files at paths into c, or of all files if paths is
// empty. If some can't be read, it sets the others and returns ErrDamaged. Contents far
// larger than the file, or beyond maxContents in total, are left out with a warning.
func (s Store) ReadContents(ctx context.Context, c *recall.Checkpoint, paths ...string) error {
	if len(paths) == 0 {
		paths = slices.Sorted(maps.Keys(c.State.Files))
	}
	var failed []error
	room := int64(maxContents)
	for _, path := range paths {
		f, ok := c.State.Files[path]
		if !ok || f.Blob == "" {
			continue
		}
		object, err := s.Repo.ReadWithin(ctx, f.Blob, min(room, growth*max(0, min(f.Size, maxContents))+minContent))
		if ctx.Err() != nil {
			return fmt.Errorf("context checkpoint %s: %w", c.ID, ctx.Err())
		}
		switch {
		case errors.Is(err, git.ErrTooMuch):
			f.Omitted, f.Blob = recall.TooLarge, ""
			c.Warnings = append(slices.Clone(c.Warnings), "content of "+path+" left out: too large to be read")
		case err != nil || object.Type != "blob":
			f.Omitted, f.Blob = recall.Unreadable, ""
			failed = append(failed, fmt.Errorf("context checkpoint %s: %s: %w: %w", c.ID, path, recall.ErrDamaged, err))
		default:
			f.Content = string(object.Data)
			room -= int64(len(object.Data))
		}
		c.State.Files[path] = f
	}
	return errors.Join(failed...)
}

// Damage is a saved context with unreadable parts.
type Damage struct {
	ID string
	// Err wraps ErrDamaged.
	Err error
}

// Verify checks that all objects of all contexts exist, and reads their metadata and
// trees. It does not read contents.
func (s Store) Verify(ctx context.Context) ([]Damage, error) {
	refs, err := s.commits().all(ctx)
	if err != nil {
		return nil, fmt.Errorf("verify context checkpoints: %w", err)
	}
	var found []Damage
	owners := map[git.OID][]string{} // of objects
	var wanted []git.OID
	for _, id := range slices.Sorted(maps.Keys(refs)) {
		oids, err := s.commits().blobs(ctx, id)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.Is(err, recall.ErrNotFound) {
			continue // discarded meanwhile
		}
		if err != nil {
			found = append(found, Damage{ID: id, Err: err})
			continue
		}
		for _, oid := range oids {
			if owners[oid] == nil {
				wanted = append(wanted, oid)
			}
			owners[oid] = append(owners[oid], id)
		}
	}
	gone, err := git.MissingObjects(ctx, s.Repo, wanted)
	if err != nil {
		return nil, fmt.Errorf("verify context checkpoints: %w", err)
	}
	lost := map[string]int{}
	for _, oid := range gone {
		for _, id := range owners[oid] {
			lost[id]++
		}
	}
	for _, id := range slices.Sorted(maps.Keys(lost)) {
		found = append(found, Damage{ID: id, Err: fmt.Errorf("%w: the contents of %d files are missing", recall.ErrDamaged, lost[id])})
	}
	return found, nil
}
