package forget

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

// catalog is the database of all repositories of the user.
type catalog struct {
	*target

	// done reports that it was rewritten, err is the reason why it wasn't.
	done bool
	err  error
}

// remake rebuilds this repository's rows of the catalog from the records. Errors are reported in
// the end, by places.
func (c *catalog) remake(ctx context.Context) {
	registry := c.w.Env.Registry
	if registry == nil || registry.Home == "" {
		return
	}
	if _, err := os.Lstat(registry.CatalogPath()); err != nil {
		return
	}
	c.done = true
	c.err = savedcontext.Contexts(c.w).Forget(ctx)
	store, err := bands.Open(tracking.StoreDir(c.w))
	if err != nil {
		store = nil // it has no rows
	}
	c.err = errors.Join(c.err, registry.Rows().Remake(ctx, store))
}

// places returns the files of the catalog that contain the text.
func (c *catalog) places() []Place {
	if c.text == nil || c.w.Env.Registry == nil || c.w.Env.Registry.Home == "" {
		return nil
	}
	var list []Place
	for _, name := range []string{"agentfs.db", "agentfs.db-wal"} {
		path := filepath.Join(c.w.Env.Registry.Home, name)
		data, err := disk.ReadFile(path)
		if err != nil || !c.text.Has(data) {
			continue
		}
		place := Place{Kind: File, Name: path, What: "the catalog: this repository's rows are rebuilt", Stays: c.done}
		switch {
		case c.err != nil:
			place.What = "the catalog could not be rewritten: " + plain.FirstLine(c.err.Error()) + "; delete agentfs.db, -wal and -shm, then run agentfs doctor"
		case c.done:
			place.What = "the catalog has it for another repository: run `entire forget` there, too"
		}
		list = append(list, place)
	}
	return slices.Clip(list)
}
