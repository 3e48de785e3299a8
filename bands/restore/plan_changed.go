package restore

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// changedName is the file in a rescue's folder that lists the paths that its restore changed.
const changedName = "changed"

// changedMagic begins the decompressed file; docs/formats/bands.md has the rest.
const changedMagic = "entire changed 1\n"

// pathState is the state that a restore gave a path.
type pathState struct {
	path string
	stateID
}

// stateID identifies the state of a path.
type stateID struct {
	kind band.EntryKind // 0: the path was removed
	// content identifies kind, length and content, attr the permissions and the user's extended
	// attributes. Times and owners are excluded: a restore may not be permitted to set the owner,
	// and a different time alone is no change worth keeping.
	content [8]byte
	attr    [4]byte
}

// noState is the state of a path that can't be identified.
var noState = stateID{kind: 0xff} //nolint:gochecknoglobals // a constant

// changedSet lists the paths that a restore changed, with their states. A path is in it more than
// once if an interrupted restore and its completion gave it different states.
type changedSet []pathState

// Sorted sorts the set by path and removes duplicates.
func (c changedSet) Sorted() changedSet {
	slices.SortFunc(c, func(a, b pathState) int {
		return cmp.Or(strings.Compare(a.path, b.path), cmp.Compare(a.kind, b.kind),
			bytes.Compare(a.content[:], b.content[:]), bytes.Compare(a.attr[:], b.attr[:]))
	})
	return slices.Compact(c)
}

// stateOf returns the state of a path with the entry e, nil if the path is missing. It returns
// false if the parts of a file can't be read.
func stateOf(path string, e *band.Entry, parts func(band.Ref) ([]band.Part, error)) (pathState, bool) {
	s := pathState{path: path}
	if e == nil {
		return s, true
	}
	s.kind = e.Kind
	h := sha256.New()
	var number [8]byte
	put := func(n int64) {
		binary.BigEndian.PutUint64(number[:], uint64(n))
		h.Write(number[:])
	}
	put(int64(e.Kind))
	switch {
	case e.Kind == band.Symlink:
		h.Write([]byte(e.Target))
	case e.Kind == band.File && e.Parts:
		if parts == nil {
			return s, false
		}
		list, err := parts(e.Content)
		if err != nil {
			return s, false
		}
		for i := range list { // the place and the kind of storage of a part don't matter
			kind := list[i].Kind
			if kind == band.PiecePart {
				kind = band.DataPart
			}
			put(int64(kind))
			put(list[i].Length)
			h.Write(list[i].Ref.Hash[:])
		}
	case e.Kind == band.File:
		put(e.Size)
		h.Write(e.Content.Hash[:])
	}
	copy(s.content[:], h.Sum(nil))
	s.attr = attrState(e)
	return s, true
}

// attrState identifies the permissions and the user's extended attributes.
func attrState(e *band.Entry) (attr [4]byte) {
	h := sha256.New()
	if e.Kind != band.Symlink {
		fmt.Fprintf(h, "%o\n", e.Attr.Mode&0o777)
	}
	for _, x := range e.Attr.Xattrs {
		if strings.HasPrefix(x.Name, "user.") && e.Kind == band.File {
			fmt.Fprintf(h, "%q=%q\n", x.Name, x.Value)
		}
	}
	copy(attr[:], h.Sum(nil))
	return attr
}

// States yields the states that the plan will give to paths, by path, and returns their number.
func (p *Plan) States() (count int, states iter.Seq[pathState]) {
	var beside changedSet // of directories that stay
	for path, attr := range p.partly {
		s, _ := stateOf(path, &band.Entry{Kind: band.Dir, Attr: attr}, nil)
		beside = append(beside, s)
	}
	for path, change := range p.Dirs {
		s, _ := stateOf(path, &band.Entry{Kind: band.Dir, Attr: change.Want}, nil)
		beside = append(beside, s)
	}
	beside = beside.Sorted()
	count = len(beside)
	for d := range p.Root.Dirs() {
		count += d.Count(func(_ *dirSteps, s *namedStep) bool { return s.state != noState })
	}
	return count, func(yield func(pathState) bool) {
		rest := beside
		for d, i := range p.Root.all() {
			s := pathState{d.PathOf(&d.List[i]), d.List[i].state}
			for ; len(rest) > 0 && rest[0].path < s.path; rest = rest[1:] {
				if !yield(rest[0]) {
					return
				}
			}
			if s.stateID != noState && !yield(s) {
				return
			}
		}
		for _, s := range rest {
			if !yield(s) {
				return
			}
		}
	}
}

// encodeStates returns the content of the file for count states, sorted by path.
func encodeStates(count int, states iter.Seq[pathState]) ([]byte, error) {
	var packed bytes.Buffer
	enc, err := zstd.NewWriter(&packed, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true),
		zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	to := bufio.NewWriterSize(io.MultiWriter(sum, enc), 64<<10)
	line := binary.AppendUvarint([]byte(changedMagic), uint64(count))
	before := ""
	for s := range states {
		line = appendState(line, before, &s)
		_, _ = to.Write(line) // the errors are Flush's
		line, before = line[:0], s.path
	}
	_, _ = to.Write(line)
	err = to.Flush()
	if err == nil {
		_, err = enc.Write(sum.Sum(nil))
	}
	err = errors.Join(err, enc.Close())
	return packed.Bytes(), err
}

func changedPath(s *bands.Store, v bands.Version) string {
	return filepath.Join(s.SnapshotDir(v), changedName)
}

// writeChanged writes count states, sorted by path, into the folder of a rescue.
func writeChanged(h *bands.Held, v bands.Version, count int, states iter.Seq[pathState]) error {
	data, err := encodeStates(count, states)
	if err != nil {
		return fmt.Errorf("write list of changed paths: %w", err)
	}
	return disk.WriteDurable(changedPath(h.Store, v), data, 0o600)
}

// ReadChanged returns the paths that a restore changed, from the list in the folder of the
// version list. For restores by versions without lists, and those whose list was pruned, it
// returns the differences between the rescue and the restored versions.
func ReadChanged(ctx context.Context, s *bands.Store, list, rescue bands.Version, restored []bands.Version, in *Selection) (*ChangedList, error) {
	if list != 0 {
		data, err := disk.ReadFile(changedPath(s, list))
		if err == nil {
			return decodeChanged(data)
		}
		if !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("read list of changed paths: %w", err)
		}
	}
	before, err := s.Snapshot(rescue)
	if err != nil {
		return nil, err
	}
	var set changedSet
	for _, v := range restored {
		after, err := s.Snapshot(v)
		if err != nil {
			return nil, fmt.Errorf("the list of files that the restore of %s changed is lost: %w", v, err)
		}
		records, reader := s.Loader(after)
		err = s.Changes(ctx, before, after, func(c band.Change) error {
			if in.Hides(c.Path) || in.Relate(c.Path) != Inside {
				return nil
			}
			if state, ok := stateOf(c.Path, c.New, records.Parts); ok {
				set = append(set, state)
			}
			return nil
		})
		if err := errors.Join(err, reader.Close()); err != nil {
			return nil, err
		}
	}
	return newChangedList(set), nil
}

// withStatesBefore adds the states that the snapshot has at the paths of the list: an interrupted
// restore may not have changed them yet.
func withStatesBefore(s *bands.Store, list *ChangedList, before bands.Snapshot) (*ChangedList, error) {
	root, ok := before.Tree.Ref()
	if !ok {
		return nil, fmt.Errorf("snapshot %s: %w", before.Version, bands.ErrDamaged)
	}
	records, reader := s.Loader(before)
	var all changedSet
	for was := range list.From("") {
		all = append(all, was)
		e, err := band.LookupPath(records, root, was.path)
		entry := &e
		if err != nil {
			if !errors.Is(err, os.ErrNotExist) {
				continue // unknown paths stay
			}
			entry = nil
		}
		if state, ok := stateOf(was.path, entry, records.Parts); ok {
			all = append(all, state)
		}
	}
	return newChangedList(all), reader.Close()
}
