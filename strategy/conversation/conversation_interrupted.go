package conversation

import (
	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/strategy/moments"
)

// EndFollow notes beside a rescue that all of its rewind has been done.
func EndFollow(store *bands.Store, rescue bands.Version) error {
	p, err := moments.ReadSessionsBefore(store, rescue)
	if err != nil || p.Followed {
		return err
	}
	p.Followed = true
	return moments.WriteSessionsBefore(store, rescue, p)
}
