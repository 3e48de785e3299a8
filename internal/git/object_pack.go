package git

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Packs holds the packs that a repository's own object directory had when they were opened, without
// those of alternates.
type Packs struct {
	repo *Repo
	dir  string
	list []*listedPack
}

// listedPack is the index of a pack.
type listedPack struct {
	base  string // the path without extension
	index *PackIndex
	width int // of an object id in bytes
	// fixed is the reason why the pack can't be replaced, empty if it can be.
	fixed string
}

// OpenPacks opens the indexes of the packs. The caller must call Close.
func OpenPacks(ctx context.Context, r *Repo) (*Packs, error) {
	out, err := r.Run(ctx, "rev-parse", "--path-format=absolute", "--git-path", "objects/pack")
	if err != nil {
		return nil, fmt.Errorf("find packs: %w", err)
	}
	p := &Packs{repo: r, dir: strings.TrimSuffix(string(out), "\n")}
	chain := ""
	if _, err := os.Lstat(filepath.Join(p.dir, "multi-pack-index.d")); err == nil {
		chain = "it is in a pack of a chain of indexes"
	}
	for _, name := range disk.Glob(p.dir, "pack-*.idx") {
		one, err := openListedPack(strings.TrimSuffix(name, ".idx"), r.Format.HexLen()/2) //nolint:mnd // two digits a byte
		if errors.Is(err, fs.ErrNotExist) {
			continue // git has replaced it
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open %s: %w", name, err), p.Close())
		}
		if chain != "" {
			one.fixed = chain
		}
		p.list = append(p.list, one)
	}
	return p, nil
}

// fixedPacks lists files beside a pack that forbid replacing it.
var fixedPacks = []struct{ ext, why string }{ //nolint:gochecknoglobals // read only
	{".keep", "it is in a pack with a .keep file"},
	{".promisor", "it is in a pack of a partial clone"},
}

func openListedPack(base string, width int) (*listedPack, error) {
	index, err := OpenPackIndex(base+".idx", width)
	if err != nil {
		return nil, err
	}
	p := &listedPack{base: base, index: index, width: width}
	for _, fixed := range fixedPacks {
		if _, err := os.Lstat(base + fixed.ext); err == nil {
			p.fixed = fixed.why
		}
	}
	return p, nil
}

// Close closes the indexes.
func (p *Packs) Close() error {
	var err error
	for _, one := range p.list {
		err = errors.Join(err, one.index.Close())
	}
	return err
}

// Fixed returns the reason why an object can't be removed from the packs: its pack has to stay, or
// no pack has it. It returns "" if the object can be removed.
func (p *Packs) Fixed(oid OID) (string, error) {
	why := "it is in an alternate object directory"
	for _, one := range p.list {
		has, err := one.has(oid)
		switch {
		case err != nil:
			return "", err
		case has && one.fixed != "":
			return one.fixed, nil
		case has:
			why = ""
		}
	}
	return why, nil
}

// has reports whether the pack has an object.
func (p *listedPack) has(oid OID) (bool, error) {
	name, err := hex.DecodeString(string(oid))
	if err != nil || len(name) != p.width {
		return false, fmt.Errorf("%q is no object id", oid)
	}
	_, has, err := p.index.Find(name)
	if err != nil {
		return false, fmt.Errorf("read %s.idx: %w", p.base, err)
	}
	return has, nil
}

// Drop replaces each pack that has some of the objects by one without them. Objects in fixed packs
// stay. All other objects of a pack are kept, referenced or not.
//
// A pack is removed only after its replacement is durable, and only if confirm still returns true
// then and no process has written one of the pack's objects meanwhile: instead of storing an object
// that a pack has, git updates the pack's time.
func (p *Packs) Drop(ctx context.Context, oids []OID, confirm func() (bool, error)) error {
	drop := make(map[OID]bool, len(oids))
	for _, oid := range oids {
		drop[oid] = true
	}
	for _, one := range p.list {
		some := false
		for oid := range drop {
			has, err := one.has(oid)
			if err != nil {
				return err
			}
			if some = has; some {
				break
			}
		}
		if !some || one.fixed != "" {
			continue
		}
		if err := p.replace(ctx, one, drop, confirm); err != nil {
			return fmt.Errorf("rewrite %s: %w", filepath.Base(one.base)+".pack", err)
		}
	}
	return nil
}

// replace writes a pack with all objects of a pack except those in drop, and removes the old pack.
func (p *Packs) replace(ctx context.Context, one *listedPack, drop map[OID]bool, confirm func() (bool, error)) error {
	before, err := modifiedAt(one.base + ".pack")
	if err != nil {
		return err
	}
	if err := disk.Step("pack", one.base); err != nil {
		return err
	}
	rest := &packNames{pack: one, drop: drop, next: 0}
	// Existing deltas are copied, and no new ones are searched for.
	args := []string{"pack-objects", "-q", "--delta-base-offset", "--window=0", filepath.Join(p.dir, "pack")}
	out, err := p.repo.Do(ctx, Command{Args: args, Stdin: rest})
	if err != nil {
		return err
	}
	if rest.err != nil {
		return rest.err
	}
	written := filepath.Join(p.dir, "pack-"+strings.TrimSpace(string(out)))
	if written == one.base {
		return errors.New("git has dropped nothing")
	}
	if err := disk.SyncDir(p.dir); err != nil {
		return err
	}
	is, err := confirm()
	// The new pack stays: git names packs by their contents, and may have written the same one to
	// replace the old pack itself.
	if now, failed := modifiedAt(one.base + ".pack"); err != nil || failed != nil || !is || !now.Equal(before) {
		return errors.Join(err, failed, ErrObjectsInUse)
	}
	if rest.written == 0 { // git writes an empty pack
		if err := removePack(written); err != nil {
			return err
		}
	}
	// The multi-pack-index names the pack. Without it git reads the packs' own indexes.
	if err := disk.Remove(filepath.Join(p.dir, "multi-pack-index")); err != nil {
		return err
	}
	return errors.Join(removePack(one.base), disk.SyncDir(p.dir))
}

// ErrObjectsInUse means that the objects to be dropped are needed again.
var ErrObjectsInUse = errors.New("objects of it have been written or referred to meanwhile")

func modifiedAt(path string) (time.Time, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// removePack removes a pack, its index first: git ignores a pack without index.
func removePack(base string) error {
	for _, ext := range []string{".idx", ".pack", ".rev", ".bitmap", ".mtimes"} {
		if err := disk.Remove(base + ext); err != nil {
			return err
		}
	}
	return nil
}

// packNames reads the ids of a pack's objects, one per line, except those in drop.
type packNames struct {
	pack    *listedPack
	drop    map[OID]bool
	next    uint32
	written int
	buf     []byte
	err     error
}

// Read implements io.Reader.
func (n *packNames) Read(to []byte) (int, error) {
	const many = 4096
	for len(n.buf) == 0 {
		end := min(n.next+many, n.pack.index.Len())
		if n.next == end {
			return 0, io.EOF
		}
		raw := make([]byte, int(end-n.next)*n.pack.width)
		if n.err = n.pack.index.Names(n.next, raw); n.err != nil {
			return 0, n.err
		}
		n.next = end
		for ; len(raw) > 0; raw = raw[n.pack.width:] {
			name := hex.EncodeToString(raw[:n.pack.width])
			if !n.drop[OID(name)] {
				n.written++
				n.buf = append(append(n.buf, name...), '\n')
			}
		}
	}
	count := copy(to, n.buf)
	n.buf = n.buf[count:]
	return count, nil
}

// RefreshCommitGraph rewrites the repository's commit graph, if there is one: git reports
// corruption if the graph has a commit that isn't stored.
func RefreshCommitGraph(ctx context.Context, r *Repo) error {
	out, err := r.Run(ctx, "rev-parse", "--path-format=absolute", "--git-path", "objects/info")
	if err != nil {
		return fmt.Errorf("find the commit graph: %w", err)
	}
	for _, name := range []string{"commit-graph", "commit-graphs"} {
		if _, err := os.Lstat(filepath.Join(strings.TrimSuffix(string(out), "\n"), name)); err == nil {
			_, err = r.Run(ctx, "commit-graph", "write", "--reachable", "--no-progress")
			return err
		}
	}
	return nil
}
