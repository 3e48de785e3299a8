package bands

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// A description is a JSON object whose first member is the SHA-256 of the whole text, computed
// with zeros in place of the hash.
const (
	sealBefore = "{\n  \"sha256\": \""
	sealAfter  = "\",\n"
	sealLength = 2 * sha256.Size
)

// Seal encodes v as a description.
func Seal(v any) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	head := sealBefore + strings.Repeat("0", sealLength) + sealAfter
	return UpdateChecksum(slices.Concat([]byte(head), bytes.TrimPrefix(data, []byte("{\n")), []byte("\n"))), nil
}

// unseal decodes a description into v; it returns false if the hash doesn't match.
func unseal(data []byte, v any) bool {
	head := len(sealBefore) + sealLength + len(sealAfter)
	if len(data) < head || !bytes.HasPrefix(data, []byte(sealBefore)) {
		return false
	}
	place := data[len(sealBefore) : len(sealBefore)+sealLength]
	var want [sha256.Size]byte
	if _, err := hex.Decode(want[:], place); err != nil {
		return false
	}
	copied := bytes.Clone(data)
	copy(copied[len(sealBefore):], strings.Repeat("0", sealLength))
	return sha256.Sum256(copied) == want && json.Unmarshal(data, v) == nil
}

// Described is the content of snapshot.json.
type Described struct {
	Format int `json:"format"`
	Snapshot
}

// SnapshotFormat is the format of snapshot.json. Since 2 large directories have pages, which
// older programs can't read. VolumeFormat is that of the snapshots of volumes.
const (
	SnapshotFormat = 2
	VolumeFormat   = 3
)

// Snapshots returns all readable snapshots, ascending. The error joins one error for each
// unreadable snapshot.
func (s *Store) Snapshots() ([]Snapshot, error) {
	versions, err := s.Versions()
	if err != nil {
		return nil, err
	}
	list := make([]Snapshot, 0, len(versions))
	var failed []error
	for _, v := range versions {
		snap, err := s.Snapshot(v)
		switch {
		case err == nil:
			list = append(list, snap)
		case !errors.Is(err, ErrNoSnapshot): // deleted meanwhile
			failed = append(failed, err)
		}
	}
	return list, errors.Join(failed...)
}

// Snapshot reads the description of a version: ErrNoSnapshot if there is none, ErrDamaged if the
// description doesn't match its hash or has no tree.
func (s *Store) Snapshot(v Version) (Snapshot, error) {
	dir := s.SnapshotDir(v)
	data, err := disk.ReadFile(filepath.Join(dir, SnapshotFile))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(dir); err == nil {
			return Snapshot{}, fmt.Errorf("read snapshot %s: no %s: %w", v, SnapshotFile, ErrDamaged)
		}
		return Snapshot{}, fmt.Errorf("read snapshot %s: %w", v, ErrNoSnapshot)
	}
	if err != nil {
		return Snapshot{}, fmt.Errorf("read snapshot %s: %w", v, err)
	}
	var d Described
	if !unseal(data, &d) || d.Version != v {
		return Snapshot{}, fmt.Errorf("read snapshot %s: %s: %w", v, SnapshotFile, ErrDamaged)
	}
	if d.Format > VolumeFormat {
		return Snapshot{}, fmt.Errorf("read snapshot %s: format %d is from a newer version", v, d.Format)
	}
	if _, ok := d.Tree.Ref(); !ok && d.Volume == "" {
		return Snapshot{}, fmt.Errorf("read snapshot %s: no tree: %w", v, ErrDamaged)
	}
	snap := d.Snapshot
	if !snap.Late {
		_, err := os.Lstat(filepath.Join(dir, lateName))
		snap.Late = err == nil // MarkLate was called
	}
	snap.Pairs, err = readPairs(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNoSnapshot // it was deleted meanwhile
	}
	if err != nil {
		return Snapshot{}, fmt.Errorf("read snapshot %s: %w", v, err)
	}
	return snap, nil
}

// readPairs reads the pairs in a snapshot's folder, oldest first. Damaged pairs are skipped: git
// has the checkpoints.
func readPairs(dir string) ([]Pair, error) {
	opened, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	names, err := opened.Readdirnames(-1)
	if err := errors.Join(err, opened.Close()); err != nil {
		return nil, err
	}
	var list []Pair
	for _, name := range names {
		id, ok := strings.CutPrefix(strings.TrimSuffix(name, ".json"), pairPrefix)
		if !ok || name != filepath.Base(pairPath(dir, id)) {
			continue
		}
		data, err := disk.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		var p Pair
		if unseal(data, &p) && p.Checkpoint == id {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b Pair) int {
		return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.Checkpoint, b.Checkpoint))
	})
	return list, nil
}

// pairPath returns the path of the pair with a checkpoint in a snapshot's folder.
func pairPath(dir, checkpoint string) string {
	return filepath.Join(dir, pairPrefix+checkpoint+".json")
}

// AddPair records that the version represents a checkpoint. An existing pair with the checkpoint
// is replaced.
func (h *Held) AddPair(v Version, p Pair) error {
	if p.Checkpoint == "" || strings.ContainsAny(p.Checkpoint, "/\\\x00") {
		return fmt.Errorf("pair snapshot %s: %q is not a checkpoint id", v, p.Checkpoint)
	}
	if !h.Has(v) {
		return fmt.Errorf("pair snapshot %s: %w", v, ErrNoSnapshot)
	}
	data, err := Seal(p)
	if err != nil {
		return fmt.Errorf("pair snapshot %s: %w", v, err)
	}
	if err := disk.WriteDurable(pairPath(h.SnapshotDir(v), p.Checkpoint), data, 0o600); err != nil {
		return fmt.Errorf("pair snapshot %s: %w", v, err)
	}
	return nil
}

// UpdateChecksum updates the hash of a description whose text was changed. Other data is returned
// unchanged.
func UpdateChecksum(data []byte) []byte {
	head := len(sealBefore) + sealLength + len(sealAfter)
	if len(data) < head || !bytes.HasPrefix(data, []byte(sealBefore)) || string(data[head-len(sealAfter):head]) != sealAfter {
		return data
	}
	next := bytes.Clone(data)
	copy(next[len(sealBefore):], strings.Repeat("0", sealLength))
	sum := sha256.Sum256(next)
	hex.Encode(next[len(sealBefore):], sum[:])
	return next
}
