package bands

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// damageFile lists the records that are known to be damaged: docs/formats/bands.md.
const damageFile = "damage.json"

// damageFormat is the format of damageFile.
const damageFormat = 1

type damageList struct {
	Format  int             `json:"format"`
	Records []damagedRecord `json:"records"`
}

type damagedRecord struct {
	Kind   band.RecordKind `json:"kind"`
	Hash   string          `json:"sha256"`
	Band   uint32          `json:"band"`
	Offset uint32          `json:"offset"`
}

// Damaged returns the records that were found damaged and that no snapshot has repaired since.
func (s *Store) Damaged() ([]band.Damaged, error) {
	data, err := disk.ReadFile(s.Path(damageFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read list of damage: %w", err)
	}
	var list damageList
	if json.Unmarshal(data, &list) != nil || list.Format > damageFormat {
		return nil, nil //nolint:nilerr // verify makes it anew
	}
	var all []band.Damaged
	for _, r := range list.Records {
		if hash, ok := band.ParseHash(r.Hash); ok {
			all = append(all, band.Damaged{Kind: r.Kind, Ref: band.Ref{Hash: hash, Band: r.Band, Offset: r.Offset}})
		}
	}
	return all, nil
}

// NoteDamage records damaged records, and drops the caches with which the next snapshots would
// reuse them unread: these snapshots read the whole tree, and repair or store again the contents
// that are still in it.
func (h *Held) NoteDamage(found []band.Damaged) error {
	if len(found) == 0 {
		return nil
	}
	had, err := h.Damaged()
	if err != nil {
		return err
	}
	for _, d := range found {
		if !slices.Contains(had, d) {
			had = append(had, d)
		}
	}
	if err := h.writeDamage(had); err != nil {
		return err
	}
	return h.dropStatCaches()
}

// ClearDamage empties the list after a complete verification without errors.
func (h *Held) ClearDamage() error { return h.writeDamage(nil) }

// NoteRepaired removes the records that a snapshot has repaired from the list.
func (h *Held) NoteRepaired(repaired []band.Damaged) error {
	if len(repaired) == 0 {
		return nil
	}
	had, err := h.Damaged()
	if err != nil {
		return err
	}
	return h.writeDamage(slices.DeleteFunc(had, func(d band.Damaged) bool { return slices.Contains(repaired, d) }))
}

func (h *Held) writeDamage(all []band.Damaged) error {
	if len(all) == 0 {
		return disk.Remove(h.Path(damageFile))
	}
	list := damageList{Format: damageFormat}
	for _, d := range all {
		list.Records = append(list.Records, damagedRecord{d.Kind, d.Ref.Hash.String(), d.Ref.Band, d.Ref.Offset})
	}
	return disk.WriteJSON(h.Path(damageFile), list)
}
