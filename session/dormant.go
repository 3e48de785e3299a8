package session

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Pending returns the sessions for which a commit hook may have something to do, and the errors of
// states that can't be read. Old sessions cost one stat each: an index lists the size, time and
// inode of state files that were found with nothing pending.
//
// The folder is listed once per Store, which lives as long as a hook. Sessions that begin later are
// found only if this Store saves them. The states of the sessions found are read anew at each call.
func (s *Store) Pending() ([]*State, []error) { return s.PendingBut("") }

// PendingBut is Pending without the session id, whose state is not read.
func (s *Store) PendingBut(id string) ([]*State, []error) {
	var found map[string]*State
	if !s.scanned {
		found = s.scan(false)
	}
	return s.read(found, id)
}

// Glance is Pending for callers that may miss a session which another version of the tool has
// resumed: sessions in the index are skipped without a stat.
func (s *Store) Glance() ([]*State, []error) {
	if !s.scanned {
		found := s.scan(true)
		s.scanned = false // only a full scan counts
		return s.read(found, "")
	}
	return s.read(nil, "")
}

// RestingSince returns the sessions with nothing pending whose states were written since at.
// Unreadable states are left out.
func (s *Store) RestingSince(at time.Time) []*State {
	if !s.scanned {
		s.scan(false)
	}
	var states []*State
	for _, name := range slices.Sorted(maps.Keys(s.changed)) {
		if s.changed[name] < at.UnixNano() || slices.Contains(s.awake, name) {
			continue
		}
		if state, err := s.load(name); err == nil && !state.Pending() {
			states = append(states, state)
		}
	}
	return states
}

// read loads the states that may have something pending, except that of the session id. States in
// found, which a scan has just read, are not read again.
func (s *Store) read(found map[string]*State, id string) ([]*State, []error) {
	var states []*State
	var failed []error
	for _, name := range s.awake {
		if name == id+stateExt {
			continue
		}
		state, err := found[name], error(nil)
		if state == nil {
			state, err = s.load(name)
		}
		switch {
		case errors.Is(err, ErrNotFound): // removed in the meantime
		case err != nil:
			failed = append(failed, err)
		case state.Pending():
			states = append(states, state)
		}
	}
	return states, failed
}

// scan finds the sessions that may have something pending, by the stamps of their files, and
// returns those of their states that it could read. With believed, sessions in the index are
// skipped without a look at their files.
func (s *Store) scan(believed bool) map[string]*State {
	s.scanned, s.awake, s.changed = true, nil, map[string]int64{}
	found := map[string]*State{}
	dir, err := dirfd.OpenRoot(s.dir)
	if err != nil {
		return found
	}
	defer func() { _ = dir.Close() }() // it was only read
	known := s.readDormant()
	fresh := map[string]string{}
	var now []byte
	var info dirfd.Stat
	for _, name := range s.names() {
		stamp, dormant := known[name]
		if dormant && believed {
			continue
		}
		if err = dir.Stat(name, &info); err == nil {
			now = appendStamp(now[:0], &info)
			s.changed[name] = info.Mtime
		}
		if dormant && err == nil && string(now) == stamp {
			continue
		}
		state, failed := s.load(name)
		if failed == nil && err == nil && !state.Pending() {
			fresh[name] = string(now)
			continue
		}
		if failed == nil {
			found[name] = state
		}
		s.awake = append(s.awake, name)
	}
	s.writeDormant(known, fresh)
	return found
}

// appendStamp appends a stamp of a state file, which changes with every write.
func appendStamp(stamp []byte, info *dirfd.Stat) []byte {
	const base = 36
	stamp = strconv.AppendInt(stamp, info.Size, base)
	stamp = strconv.AppendInt(append(stamp, '.'), info.Mtime, base)
	return strconv.AppendUint(append(stamp, '.'), info.Ino, base)
}

func (s *Store) readDormant() map[string]string {
	data, err := disk.ReadFile(filepath.Join(s.dir, dormantName))
	if err != nil {
		return nil
	}
	known := make(map[string]string, bytes.Count(data, []byte{'\n'}))
	for line := range strings.Lines(string(data)) {
		if stamp, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
			known[name] = stamp
		}
	}
	return known
}

// writeDormant updates the index when at least 8 sessions are missing from it. Errors are ignored:
// a stale index costs only time.
func (s *Store) writeDormant(known, fresh map[string]string) {
	const lag = 8
	if len(fresh) < lag {
		return
	}
	var b strings.Builder
	for _, name := range s.names() {
		if stamp := cmp.Or(fresh[name], known[name]); stamp != "" {
			b.WriteString(stamp + " " + name + "\n")
		}
	}
	_ = disk.WriteCache(filepath.Join(s.dir, dormantName), []byte(b.String()), 0o600)
}
