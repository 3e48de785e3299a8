package forget

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/erase"
)

// inSnapshots is what is taken out of the contents of snapshots; false if nothing
// is.
func (f *Forgetting) inSnapshots() (what erase.Request, some bool) {
	switch {
	case f.what.File != "":
		return erase.Request{Path: func(path string) bool { return path == f.what.File }}, true
	case f.text == nil:
		return what, false
	}
	return erase.Request{
		Content: f.text.Has,
		Overlap: f.text.Longest() - 1,
		Name:    func(name string) string { return string(f.text.MaskInPlace([]byte(name))) },
	}, true
}

// snapshotPlaces are the files in snapshots that have something of it, and what
// of the snapshots could not be searched.
func (f *Forgetting) snapshotPlaces(ctx context.Context) ([]Place, error) {
	what, some := f.inSnapshots()
	if !some {
		return nil, nil
	}
	store, err := bands.Open(f.rec.Snapshots().Snapshots.StoreDir())
	if errors.Is(err, bands.ErrNoStore) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found, damage, err := erase.Find(ctx, store, what)
	if err != nil {
		return nil, fmt.Errorf("search snapshots: %w", err)
	}
	places := make([]Place, 0, len(found)+1)
	for _, p := range found {
		places = append(places, Place{Kind: Snapshot, Name: p.Path, What: "is taken out of " + versionList(p.Versions)})
	}
	if damage != nil {
		places = append(places, Place{Kind: Unknown, Name: "snapshots", Stays: true, What: "could not be searched: " + firstLine(damage)})
	}
	return places, nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// versionList names the first few versions.
func versionList(list []bands.Version) string {
	const most = 3
	names := make([]string, 0, most)
	for _, v := range list[:min(len(list), most)] {
		names = append(names, v.String())
	}
	text := strings.Join(names, ", ")
	if n := len(list) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// cleanSnapshots takes it out of the contents of snapshots.
func (f *Forgetting) cleanSnapshots(ctx context.Context) (err error) {
	what, some := f.inSnapshots()
	if !some {
		return nil
	}
	held, err := f.held(ctx)
	if held == nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	return erase.Run(ctx, held, what)
}

// cleanCatalog makes this repository's rows of the catalog anew from the records.
// What can't be done about the catalog is named in the end.
func (f *Forgetting) cleanCatalog(ctx context.Context) {
	registry := f.rec.Env.Registry
	if registry == nil || registry.Home == "" {
		return
	}
	if _, err := os.Lstat(registry.CatalogPath()); err != nil {
		return
	}
	f.catalogDone = true
	f.catalogErr = f.rec.SavedContexts().Saver.Contexts().Forget(ctx)
	store, err := bands.Open(f.rec.Snapshots().Snapshots.StoreDir())
	if err != nil {
		store = nil // it has no rows
	}
	f.catalogErr = errors.Join(f.catalogErr, registry.Rows().Remake(ctx, store))
}

// catalog names the files of the catalog that have the text.
func (f *Forgetting) catalog() []Place {
	if f.text == nil || f.rec.Env.Registry == nil || f.rec.Env.Registry.Home == "" {
		return nil
	}
	var list []Place
	for _, name := range []string{"agentfs.db", "agentfs.db-wal"} {
		path := filepath.Join(f.rec.Env.Registry.Home, name)
		data, err := os.ReadFile(path)
		if err != nil || !f.text.Has(data) {
			continue
		}
		place := Place{Kind: File, Name: path, What: "the catalog: the rows of this repository are made anew", Stays: f.catalogDone}
		switch {
		case f.catalogErr != nil:
			place.What = "the catalog could not be rewritten: " + firstLine(f.catalogErr) + "; delete agentfs.db, -wal and -shm, then run agentfs doctor"
		case f.catalogDone:
			place.What = "the catalog has it in rows of another repository: forget it there too"
		}
		list = append(list, place)
	}
	return slices.Clip(list)
}
