package strategy

import (
	"fmt"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

// ShadowsOf returns the shadow commits to which a rewind to the snapshot v resets the
// sessions. Sessions without a recorded state are skipped.
func ShadowsOf(store *bands.Store, v bands.Version, sessions map[string]bool) ([]git.OID, error) {
	all, err := tracking.SessionsAt(store, v)
	if err != nil {
		return nil, fmt.Errorf("sessions of %s: %w", v, err)
	}
	kept, err := tracking.ReadSessionsBefore(store, v)
	if err != nil {
		return nil, err
	}
	var oids []git.OID
	for _, m := range append(all, kept.Sessions...) {
		if m.Shadow != "" && sessions[m.Session] {
			oids = append(oids, m.Shadow)
		}
	}
	return oids, nil
}
