package restore

import (
	"context"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
)

// untouched returns patterns of the files that a rescue would have to store though the restore
// neither overwrites nor deletes them.
func untouched(ctx context.Context, h *bands.Held, j job, content *bands.ContentReader, in *Selection, o Options) ([]string, error) {
	target, err := h.Snapshot(j.target)
	if err != nil {
		return nil, err
	}
	present, err := capture.Scan(ctx, h.Store, partly(o.Options, target))
	if err != nil {
		return nil, err
	}
	defer func() { _ = present.Close() }()
	plan, err := planBetween(ctx, h.Store, planSides{Now: present.Loader, NowRef: present.Tree, Target: target}, content, in)
	if err != nil {
		return nil, err
	}
	mains := map[string]bool{}
	for _, u := range plan.Units {
		mains[u.Main] = true
	}
	var base band.Ref
	loader := present.Loader
	if present.Base != 0 {
		last, err := h.Snapshot(present.Base)
		if err != nil {
			return nil, err
		}
		records, reader := h.Loader(last)
		defer func() { _ = reader.Close() }()
		base, _ = last.Tree.Ref()
		loader = records
	}
	var patterns []string
	literally := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`) // only the path itself matches
	err = band.DiffTrees(ctx, loader, base, present.Loader, present.Tree, func(c band.Change) error {
		if c.New == nil || c.New.Kind != band.File || mains[c.Path] {
			return nil
		}
		if _, s := plan.Root.Find(c.Path); s == nil {
			patterns = append(patterns, "/"+literally.Replace(c.Path))
		}
		return nil
	})
	return patterns, err
}
