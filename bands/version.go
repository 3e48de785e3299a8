package bands

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Reservation is the content of the file version: the highest version ever reserved, its lineage,
// and the least number of a new band. Neither number is used again after a deletion.
type Reservation struct {
	Version Version
	Lineage string
	Band    uint32
}

// Reserved reads the file; it returns the zero reservation if the file is missing or invalid.
func (s *Store) Reserved() Reservation {
	data, err := disk.ReadFile(s.Path(VersionFile))
	if err != nil {
		return Reservation{}
	}
	var r Reservation
	if n, err := fmt.Sscanf(string(data), "%d %s %d\n", &r.Version, &r.Lineage, &r.Band); n < 3 || err != nil || r.Version < 1 {
		return Reservation{}
	}
	return r
}

// Encode returns the text of the file.
func (r Reservation) Encode() []byte {
	return fmt.Appendf(nil, "%d %s %d\n", r.Version, r.Lineage, r.Band)
}

// Next returns the reservation of the next version, which the caller writes.
func (h *Held) Next(lineage string, band uint32) (Reservation, error) {
	last := h.Reserved()
	if last.Version == 0 {
		// This is the first version, or the file is lost.
		versions, err := h.Versions()
		if err != nil {
			return Reservation{}, err
		}
		if len(versions) > 0 {
			last.Version = versions[len(versions)-1]
		}
	}
	next := Reservation{Version: last.Version + 1, Lineage: lineage, Band: max(last.Band, band)}
	for {
		_, err := os.Lstat(h.SnapshotDir(next.Version))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return Reservation{}, fmt.Errorf("reserve version: %w", err)
		}
		next.Version++
	}
	return next, nil
}

// Versions returns the versions of the existing snapshots, ascending.
func (s *Store) Versions() ([]Version, error) {
	dir, err := os.Open(s.Path(SnapshotsFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	names, err := dir.Readdirnames(-1)
	if err := errors.Join(err, dir.Close()); err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	versions := make([]Version, 0, len(names))
	for _, name := range names {
		if v, err := ParseVersion(name); err == nil && v.String() == name {
			versions = append(versions, v)
		}
	}
	slices.Sort(versions)
	return versions, nil
}

// Has reports whether the version has a snapshot.
func (s *Store) Has(v Version) bool {
	_, err := os.Lstat(filepath.Join(s.SnapshotDir(v), SnapshotFile))
	return err == nil
}

// Publish writes the description of a snapshot whose files are in the folder making, and renames
// the folder to the version's after the reservation. The batch has the files to sync before.
func (h *Held) Publish(d Described, next Reservation, making string, batch *disk.Batch) error {
	data, err := Seal(d)
	if err != nil {
		return err
	}
	description := filepath.Join(making, SnapshotFile)
	if err := disk.Step("write", description); err != nil {
		return err
	}
	if err := os.WriteFile(description, data, 0o600); err != nil {
		return err
	}
	batch.Sync(description, making)
	if err := batch.Write(h.Path(VersionFile), next.Encode(), 0o600); err != nil {
		return err
	}
	batch.Rename(making, h.SnapshotDir(d.Version))
	return batch.Commit()
}

// Link points the lineage's link to v; 0 removes the link.
func (h *Held) Link(lineage string, v Version) error {
	link := h.Path(latestPrefix + lineage)
	if v == 0 {
		return disk.Remove(link)
	}
	target := filepath.Join(SnapshotsFolder, v.String())
	temp := link + TempSuffix
	if err := errors.Join(disk.Remove(temp), disk.Step("symlink", temp)); err != nil {
		return err
	}
	if err := os.Symlink(target, temp); err != nil {
		return disk.WriteCache(link, []byte(target), 0o600)
	}
	return disk.Rename(temp, link)
}

// Raise raises the highest reserved version to at least v. It writes only if the recorded version
// is lost, or lower, as after a power failure.
func (h *Held) Raise(v Version) error {
	last := h.Reserved()
	if last.Version == 0 {
		versions, err := h.Versions()
		if err != nil {
			return err
		}
		if n := len(versions); n > 0 {
			v = max(v, versions[n-1])
		}
		last.Lineage = PlainLineage
	}
	if last.Version >= v {
		return nil
	}
	last.Version = v
	if err := disk.WriteDurable(h.Path(VersionFile), last.Encode(), 0o600); err != nil {
		return fmt.Errorf("record highest version: %w", err)
	}
	return nil
}
