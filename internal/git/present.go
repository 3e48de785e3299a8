package git

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// presence determines which objects a partial clone lacks, from its files. Git before version 2.45
// starts a process for each missing object, although it isn't permitted to fetch it. The methods are
// safe for concurrent use.
type presence struct {
	loose *LooseObjects

	mu      sync.Mutex // guards the fields below
	lazy    bool       // missing objects are fetched: git has to be asked
	listed  time.Time  // modification time of the directory of packs when it was listed
	indexes []*PackIndex
	known   bool // the clone is partial, and all its objects are loose or in indexes
}

// IsPartial reports whether the repository is a partial clone, which has a pack with a .promisor file.
func (r *Repo) IsPartial() (bool, error) {
	packs, err := os.ReadDir(filepath.Join(r.Loose.dir, "pack"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return slices.ContainsFunc(packs, isPromisor), err
}

func isPromisor(file os.DirEntry) bool { return strings.HasSuffix(file.Name(), ".promisor") }

// lacks reports whether this is a partial clone that doesn't have an object. It returns false if
// only git can determine that.
func (p *presence) lacks(oid OID) bool {
	name, err := hex.DecodeString(string(oid))
	if err != nil || len(name) != p.loose.format.size() || oid == p.loose.format.EmptyTree() {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lazy || !p.list() || p.loose.Has(oid) {
		return false
	}
	for _, index := range p.indexes {
		if _, found, err := index.Find(name); found || err != nil {
			return false
		}
	}
	return true
}

// list opens the indexes of all packs, again after packs were added or removed, and returns whether
// they list all packed objects of a partial clone. The caller holds the lock.
func (p *presence) list() bool {
	dir := filepath.Join(p.loose.dir, "pack")
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	if info.ModTime().Equal(p.listed) {
		return p.known
	}
	p.close()
	p.listed = info.ModTime()
	files, err := os.ReadDir(dir)
	if err != nil || !slices.ContainsFunc(files, isPromisor) || p.loose.alternates != "" {
		return false
	}
	if _, err := os.Lstat(filepath.Join(p.loose.dir, "info", "alternates")); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".idx") {
			continue
		}
		index, err := OpenPackIndex(filepath.Join(dir, f.Name()), p.loose.format.size())
		if err != nil {
			return false
		}
		p.indexes = append(p.indexes, index)
	}
	p.known = true
	return true
}

// close closes the indexes. The caller holds the lock.
func (p *presence) close() {
	for _, index := range p.indexes {
		_ = index.Close() // it was only read
	}
	p.indexes, p.known, p.listed = nil, false, time.Time{}
}

// reset closes the indexes. lazy reports that missing objects are fetched from now on.
func (p *presence) reset(lazy bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.close()
	p.lazy = p.lazy || lazy
}
