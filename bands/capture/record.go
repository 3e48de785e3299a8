package capture

import (
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// recordFormat is the format of the records that this package writes.
const recordFormat = 1

// record relates a stat cache to a moment, on a file system that records later changes. It is the
// file <store>/changed-<lineage>.
type record struct {
	Format int `json:"format"`
	// End and Sum identify the stat cache.
	End uint64 `json:"end"`
	Sum uint32 `json:"sum"`
	// Entries is the number of files and directories of the tree.
	Entries int64 `json:"entries"`
	// treeMoment is when the walk began.
	treeMoment

	// Again are files and directories that the next walk examines in any case.
	Again TouchedPaths `json:"again,omitzero"`
}

// mostAgain limits the paths of a record: with more the next walk examines everything.
const mostAgain = 1000

// moment returns the present moment of the tree, nil if the file system has no record of changes or
// this process may not read it.
func moment(root string) *treeMoment {
	now, err := momentNow(root)
	if err != nil {
		return nil
	}
	return &now
}

// follow opens the stat cache at path if it has a record, and finds the paths that may have changed
// since, unless they are a large part of the tree: then examining all of it costs less.
func (b *base) follow(s *bands.Store, set bands.Settings, path string) {
	const part, least = 8, 1000
	data, err := disk.ReadFile(s.Path(bands.ChangedPrefix + set.Lineage))
	if err != nil {
		return
	}
	var last record
	if json.Unmarshal(data, &last) != nil || last.Format != recordFormat || last.Entries < set.AskFrom {
		return
	}
	if b.now = moment(set.Root); b.now == nil {
		return
	}
	paths, known := touchedBetween(set.Root, last.treeMoment, *b.now, int(max(last.Entries/part, least)))
	if !known {
		return
	}
	cache, err := openStatCache(path, last.End, last.Sum)
	if err != nil {
		return
	}
	b.cache, b.opened, b.touched = cache, cache, TouchedFolders{}
	b.touched.Add(paths)
	b.touched.Add(last.Again)
}

// record writes the moment since which the file system's record has all differences from the stat
// cache. Errors are ignored: the next walk then examines everything.
func (t *taking) record(end uint64, sum uint32, again TouchedPaths) {
	totals := t.top.settled().Totals
	r := record{
		Format: recordFormat, End: end, Sum: sum, Entries: totals.Files + totals.Dirs, Again: again,
	}
	if t.base.now == nil || r.Entries < t.set.AskFrom || len(again.Files)+len(again.Dirs) > mostAgain {
		return
	}
	r.treeMoment = *t.base.now
	for _, path := range slices.Concat(again.Files, again.Dirs, r.Mounts) {
		if !utf8.ValidString(path) {
			return // JSON would encode another path
		}
	}
	if data, err := json.Marshal(r); err == nil {
		_ = disk.WriteCache(t.Path(bands.ChangedPrefix+t.set.Lineage), data, 0o600)
	}
}
