package health

import (
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/strategy/forget"
)

// forgetJSON is the output of `forget --json`; docs/formats/forget.md describes it.
type forgetJSON struct {
	Forgotten bool        `json:"forgotten"`
	Places    []placeJSON `json:"places"`
	Left      []placeJSON `json:"left"`
}

type placeJSON struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	What  string `json:"what"`
	Stays bool   `json:"stays,omitempty"`
}

func newPlacesJSON(places []forget.Place) []placeJSON {
	list := make([]placeJSON, 0, len(places))
	for _, p := range places {
		list = append(list, placeJSON{Kind: string(p.Kind), Name: p.Name, What: p.What, Stays: p.Stays})
	}
	return list
}

// printForgotten prints the places as JSON if --json is given.
func printForgotten(a *app.App, opts forgetOptions, places, left []forget.Place, done bool) error {
	if !opts.json {
		return nil
	}
	return a.Streams.JSON(forgetJSON{Forgotten: done, Places: newPlacesJSON(places), Left: newPlacesJSON(left)})
}

// shownPlaces is the number of places of a kind that are shown.
const shownPlaces = 20

func printPlaces(w ui.Streams, places []forget.Place) {
	for _, kind := range []struct {
		kind  forget.Kind
		title string
	}{
		{forget.Branch, "Checkpoints"},
		{forget.Shadow, "Shadow branches"},
		{forget.Saved, "Saved contexts"},
		{forget.Other, "Other refs"},
		{forget.Object, "Unreferenced objects"},
		{forget.Packed, "Unreferenced objects in packs"},
		{forget.Own, "Your own history"},
		{forget.File, "Files"},
		{forget.Snapshot, "Snapshots"},
		{forget.Unknown, "Not searched"},
	} {
		var table ui.Table
		n := 0
		for _, p := range places {
			if p.Kind != kind.kind {
				continue
			}
			if n++; n <= shownPlaces {
				what := p.What
				if p.Stays {
					what = "stays: " + what
				}
				table.AddRow("  "+ui.Line(p.Name, format.MaxNameWidth), w.Paint(ui.Dim, what))
			}
		}
		if n == 0 {
			continue
		}
		w.Printf("\n%s (%d)\n%s", w.Paint(ui.Bold, kind.title), n, table.String())
		if n > shownPlaces {
			w.Printf("  and %d more\n", n-shownPlaces)
		}
	}
}
