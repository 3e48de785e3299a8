package diff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/linediff"
)

// The errors that callers distinguish; they come wrapped.
var (
	// ErrNoText means that a file is binary, larger than 4 MiB, or no regular file.
	ErrNoText = errors.New("not a text file, or larger than 4 MiB")
	// ErrNoFile means that there is no such file.
	ErrNoFile = errors.New("no such file")
)

// LineRange is a range of lines that appeared in the same snapshot.
type LineRange struct {
	First, Last int // from 1
	// Snapshot is the oldest snapshot with the lines; nil if there is none.
	Snapshot *bands.Snapshot
	// Path is the file's path in it.
	Path string
}

// Blame is the origin of the lines of a file.
type Blame struct {
	Ranges []LineRange
	Lines  int // of the whole file
	// Unread are the versions in which the content of the file is damaged. Lines that appeared in
	// one of them are attributed to the next readable version.
	Unread []bands.Version
}

// ReadPresent reads a file of the tree below root for BlameFile.
func ReadPresent(root, path string) ([]byte, error) {
	dir, err := bands.OpenBelow(root, band.ParentPath(path))
	if err != nil {
		return nil, noFile(err)
	}
	f, err := dir.OpenFile(band.BasePath(path))
	err = errors.Join(err, dir.Close())
	if err != nil {
		return nil, noFile(err)
	}
	data, err := io.ReadAll(io.LimitReader(f, countable+1))
	return data, errors.Join(err, f.Close())
}

// noFile returns ErrNoFile if the path doesn't exist, else err.
func noFile(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNoFile
	}
	return err
}

// blameState is content that a file had in one or more consecutive snapshots.
type blameState struct {
	snapshot *bands.Snapshot // the oldest of them
	path     string
	entry    *band.Entry
}

// blamer finds the origins of the lines of one file.
type blamer struct {
	*FileHistory

	states   []blameState      // newest first
	earliest map[band.Hash]int // the last index in states of each content
	out      *Blame
	origin   []int // by line, from 0: the index in states, -1 for none, or unknown
}

const unknownOrigin = -2

// BlameFile finds the snapshots in which the lines from first to last (0: all) of a file
// appeared. history are the snapshots of one lineage, newest first. present is the file's content
// now; nil means its content in the newest snapshot. If the file had the same content before, as
// after a restore, its lines date from then. Renames are followed. The time depends on the number
// of contents since the oldest line appeared, plus a lookup in each snapshot.
func (r *FileHistory) BlameFile(ctx context.Context, history []bands.Snapshot, path string, present []byte, first, last int) (*Blame, error) {
	b := &blamer{FileHistory: r, out: &Blame{}, earliest: map[band.Hash]int{}}
	if err := b.find(ctx, history, path, present == nil); err != nil {
		return nil, err
	}
	at := -1
	text := present
	if present == nil {
		if len(b.states) == 0 {
			return nil, ErrNoFile
		}
		var err error
		if text, err = b.text(b.states[0]); err != nil {
			return nil, err
		}
		at = 0
	}
	if notText(text) {
		return nil, ErrNoText
	}
	b.out.Lines = linediff.Count(string(text))
	if last == 0 {
		last = b.out.Lines
	}
	if first > b.out.Lines || last > b.out.Lines {
		return nil, fmt.Errorf("%d lines instead of %d: %w", b.out.Lines, max(first, last), fs.ErrInvalid)
	}
	first = max(first, 1)
	b.origin = make([]int, b.out.Lines)
	lines := make([]int, b.out.Lines)
	for i := range lines {
		b.origin[i], lines[i] = unknownOrigin, i
		if i+1 < first || i+1 > last {
			lines[i] = -1
		}
	}
	if err := b.walk(ctx, string(text), lines, at); err != nil {
		return nil, err
	}
	for line := first; line <= last; line++ {
		at := b.origin[line-1]
		if n := len(b.out.Ranges); line > first && at == b.origin[line-2] {
			b.out.Ranges[n-1].Last = line
			continue
		}
		r := LineRange{First: line, Last: line, Path: path}
		if at >= 0 {
			r.Snapshot, r.Path = b.states[at].snapshot, b.states[at].path
		}
		b.out.Ranges = append(b.out.Ranges, r)
	}
	return b.out, nil
}

// reach reports the number of snapshots read, and returns ctx.Err().
func (b *blamer) reach(ctx context.Context, done, total int) error {
	if b.Progress != nil {
		b.Progress(int64(done), int64(total))
	}
	return ctx.Err()
}

// find lists the contents of the file. If must is set, the newest snapshot must have it.
func (b *blamer) find(ctx context.Context, history []bands.Snapshot, path string, must bool) error {
	var newer *bands.Snapshot // the next newer snapshot, if it has the file
	for i := range history {
		if err := b.reach(ctx, i, len(history)); err != nil {
			return err
		}
		snap := &history[i]
		e, err := b.entry(*snap, path)
		if isDamagedPath(err) || errors.Is(err, bands.ErrDamaged) {
			b.out.Unread = append(b.out.Unread, snap.Version)
			continue
		}
		if err != nil {
			return err
		}
		if e == nil && newer != nil {
			if path, e, err = b.followRename(ctx, *snap, *newer, path); err != nil {
				return err
			}
		}
		if must && i == 0 && e == nil {
			return ErrNoFile
		}
		if newer = nil; e == nil {
			continue
		}
		newer = snap
		if e.Kind != band.File || e.Size > countable {
			if must && i == 0 {
				return ErrNoText
			}
			continue
		}
		if n := len(b.states); n > 0 && b.states[n-1].path == path && sameEntryContent(b.states[n-1].entry, e) {
			b.states[n-1].snapshot = snap
			continue
		}
		b.earliest[e.Content.Hash] = len(b.states)
		b.states = append(b.states, blameState{snap, path, e})
	}
	return nil
}

// followRename returns the path and the entry in the older snapshot of a file that is new in the
// newer one: a nil entry and the same path if it was not renamed.
func (b *blamer) followRename(ctx context.Context, older, newer bands.Snapshot, path string) (string, *band.Entry, error) {
	from := b.renamed(ctx, older, newer, path)
	if from == "" {
		return path, nil, nil
	}
	e, err := b.entry(older, from)
	return from, e, err
}

// renamed returns the former path of a file that is new in a snapshot; "" if it was not renamed.
func (b *blamer) renamed(ctx context.Context, older, newer bands.Snapshot, path string) string {
	old, now, err := Snapshots(ctx, b.store, older, newer, b.options)
	if err != nil {
		return ""
	}
	defer func() { _ = errors.Join(old.Close(), now.Close()) }()
	files, err := Stat(ctx, old, now, Options{NoCounts: true})
	if err != nil {
		return "" // its history begins there
	}
	for i := range files {
		if files[i].Path == path && files[i].Kind == Renamed {
			return files[i].OldPath
		}
	}
	return ""
}

// text returns the content of a state; ErrNoText if it is binary.
func (b *blamer) text(s blameState) ([]byte, error) {
	var out bytes.Buffer
	var err error
	if s.snapshot.Volume == "" {
		err = b.try(*s.snapshot, func(c *bands.ContentReader) error {
			out.Reset()
			return c.CopyTo(&out, s.entry)
		})
	} else {
		var view volume.View
		if view, err = b.views.at(*s.snapshot); err == nil {
			err = view.ReadFile(s.path, &out)
		}
	}
	if err == nil && notText(out.Bytes()) {
		err = ErrNoText
	}
	return out.Bytes(), err
}

func notText(data []byte) bool { return len(data) > countable || isBinary(data) }

// walk follows the lines of text, the content of the state at (-1: of the tree), to older states
// until the origins of all lines are found. lines maps the lines of text to lines of the file, -1
// for lines that don't matter.
func (b *blamer) walk(ctx context.Context, text string, lines []int, at int) error {
	for slices.ContainsFunc(lines, func(line int) bool { return line >= 0 }) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if at >= 0 {
			at = b.earliest[b.states[at].entry.Content.Hash]
		}
		older, next, err := b.next(at)
		if err != nil {
			return err
		}
		if next == len(b.states) {
			b.found(lines, at)
			return nil
		}
		// before maps the lines of the older text. Lines that it lacks appeared in the state at.
		before := make([]int, 0, linediff.Count(older))
		for _, op := range linediff.Compare(older, text, linediff.Thorough) {
			switch op.Kind {
			case linediff.Kept:
				before = append(before, lines[:op.Lines]...)
				lines = lines[op.Lines:]
			case linediff.Added:
				b.found(lines[:op.Lines], at)
				lines = lines[op.Lines:]
			case linediff.Removed:
				before = append(before, slices.Repeat([]int{-1}, op.Lines)...)
			}
		}
		text, lines, at = older, before, next
	}
	return nil
}

// next returns the content of the state before at and its index; len(states) if there is none.
func (b *blamer) next(at int) (text string, place int, err error) {
	for place = at + 1; place < len(b.states); place++ {
		data, err := b.text(b.states[place])
		switch {
		case err == nil:
			return string(data), place, nil
		case isDamagedPath(err):
			b.out.Unread = append(b.out.Unread, b.states[place].snapshot.Version)
		case !errors.Is(err, ErrNoText):
			return "", 0, err
		}
	}
	return "", place, nil
}

func (b *blamer) found(lines []int, at int) {
	for _, line := range lines {
		if line >= 0 {
			b.origin[line] = at
		}
	}
}
