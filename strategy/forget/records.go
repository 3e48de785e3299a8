package forget

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// fileChange is the change of a file: its new content, or its removal.
type fileChange struct {
	place Place
	path  string
	data  []byte // nil if it is removed
}

// eachFile calls visit for every file that the program keeps: those of sessions, of snapshots
// except for their contents, of operations in progress, and logs. The states of sessions come last:
// if a run is stopped before, the next one finds the session again.
func (t *target) eachFile(visit func(path string, data []byte) error) error {
	dirs := workspace.Folders(t.w.Repo, workspace.Recorded, git.Worktrees(t.w.Repo)...)
	var paths, states []string
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			// Skip files of bands, and the files of forgetting itself, including their temporary
			// files, which a killed run leaves and which name objects.
			_, _, isBand := band.ParseName(filepath.Base(path))
			own, relErr := filepath.Rel(t.w.RecordsDir(), path)
			isOwn := relErr == nil && (strings.HasPrefix(own, "forgotten.json") || strings.HasPrefix(own, "forgetting.json"))
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case e.IsDir() && (path == filepath.Join(tracking.StoreDir(t.w), "bands") || path != dir && slices.Contains(dirs, path)):
				return fs.SkipDir
			case !e.Type().IsRegular() || isBand || isOwn:
				return nil
			case filepath.Dir(path) == t.w.Sessions.Dir():
				states = append(states, path)
			default:
				paths = append(paths, path)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("search files: %w", err)
		}
	}
	all := slices.Concat(paths, states)
	for i, path := range all {
		t.progress("files", int64(i), int64(len(all)))
		data, err := disk.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = visit(path, data)
		}
		if err != nil {
			return fmt.Errorf("search files: %w", err)
		}
	}
	return nil
}

// recordChange returns the change of one file, or false if it doesn't change.
func (t *target) recordChange(path string, data []byte) (fileChange, bool) {
	name := path // relative to the git directory or the worktree
	for _, dir := range []string{t.w.Repo.CommonDir, t.w.Repo.Root} {
		if rest, inside := strings.CutPrefix(path, dir+string(filepath.Separator)); inside {
			name = rest
			break
		}
	}
	c := fileChange{path: path, place: Place{Kind: File, Name: name, What: "is removed"}}
	switch {
	case t.find != nil:
		if !t.find.Has(data) {
			return c, false
		}
		if bytes.IndexByte(data, 0) >= 0 { // a cache: text files have no such byte
			return c, true
		}
		c.place.What, c.data = "is masked", bands.UpdateChecksum(t.find.MaskInPlace(data))
		return c, true
	case t.what.Session != "":
		return t.sessionFile(c, data)
	default:
		return c, false
	}
}

// sessionFile returns the change of a file when a session is forgotten. Files that have nothing but
// its id remain.
func (t *target) sessionFile(c fileChange, data []byte) (fileChange, bool) {
	id, name, dir := t.what.Session, filepath.Base(c.path), filepath.Dir(c.path)
	ext := filepath.Ext(name)
	switch {
	case (dir == t.w.Sessions.Dir() || dir == t.w.Sessions.SideDir() || dir == workspace.MemoryDir(t.w.Repo)) && strings.HasPrefix(name, id+"."), name == "session-"+id+".json":
		return c, true
	case !mentions(data, id):
		return c, false
	case dir == workspace.TranscriptCopies(t.w.Repo), filepath.Base(dir) == "tmp", filepath.Base(dir) == "undecoded", t.w.Transcripts().IsWritten(c.path):
		return c, true
	case dir == t.w.Sessions.SideDir() && slices.Contains([]string{"." + session.OpeningKind, "." + session.RecallKind, "." + session.MemoryKind}, ext):
		return c, true // the part of it that another session was given; all can be lost
	case name == "made" || name == "made.old":
		c.data = []byte{}
		for line := range bytes.Lines(data) {
			if !mentions(line, id) {
				c.data = append(c.data, line...)
			}
		}
	case name == "sessions.json":
		c.data = withoutSession(data, id)
	case name == "snapshot.json":
		c.data = withoutPrompt(data, id)
	}
	c.place.What = "loses the session's data"
	return c, c.data != nil && !bytes.Equal(c.data, data)
}

// mentions reports whether a record names a session: as a JSON value, in a trailer or a heading, or
// as a name in a tree.
func mentions(data []byte, id string) bool {
	for _, form := range []string{`"` + id + `"`, ": " + id + "\n", "** " + id + "\n", "/" + id + "\n", "40000 " + id + "\x00"} {
		if bytes.Contains(data, []byte(form)) {
			return true
		}
	}
	return false
}

// withoutSession returns the sessions.json of a rescue snapshot without a session. A file that
// can't be read is emptied.
func withoutSession(data []byte, id string) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return []byte("{}\n")
	}
	for _, key := range []string{"sessions", "transcripts"} {
		var list, kept []json.RawMessage
		if json.Unmarshal(all[key], &list) != nil {
			continue
		}
		for _, item := range list {
			if !mentions(item, id) {
				kept = append(kept, item)
			}
		}
		if len(kept) == len(list) {
			continue
		}
		all[key], _ = json.Marshal(append([]json.RawMessage{}, kept...)) // it was JSON
	}
	out, err := json.Marshal(all)
	if err != nil {
		return []byte("{}\n")
	}
	return append(out, '\n')
}

// withoutPrompt returns the description of a snapshot with an empty prompt and empty values of
// metadata if it was taken for the session.
func withoutPrompt(data []byte, id string) []byte {
	var d struct {
		Causality bands.Causality `json:"causality"`
	}
	if json.Unmarshal(data, &d) != nil || d.Causality.Session != id {
		return nil
	}
	out := data
	drop := func(key, value string) {
		name, nameErr := json.Marshal(key)
		text, err := json.Marshal(value)
		if value == "" || errors.Join(nameErr, err) != nil {
			return
		}
		name = append(name, ": "...)
		out = bytes.Replace(out, slices.Concat(name, text), slices.Concat(name, []byte(`""`)), 1)
	}
	drop("prompt", d.Causality.Prompt)
	for key, value := range d.Causality.Metadata {
		drop(key, value)
	}
	if bytes.Equal(out, data) {
		return nil
	}
	return bands.UpdateChecksum(out)
}

// namedObjects returns the objects that files of the records name.
func (t *target) namedObjects() map[git.OID]bool {
	set := map[git.OID]bool{}
	_ = t.eachFile(func(_ string, data []byte) error { // files that can't be read name nothing
		eachOID(data, t.w.Repo.Format.HexLen(), func(_ int, oid git.OID) { set[oid] = true })
		return nil
	})
	return set
}

// eachOID calls found for each object id in a text.
func eachOID(data []byte, width int, found func(at int, oid git.OID)) {
	run := 0
	for i := 0; i <= len(data); i++ {
		if i < len(data) && (data[i] >= '0' && data[i] <= '9' || data[i] >= 'a' && data[i] <= 'f') {
			run++
			continue
		}
		if run == width {
			found(i-run, git.OID(data[i-run:i]))
		}
		run = 0
	}
}

// cleanRecords rewrites and removes the files. In the remaining files it replaces the ids of
// rewritten commits.
func (t *target) cleanRecords(ctx context.Context, j *journal) (err error) {
	if err := t.storeAgain(ctx); err != nil {
		return err
	}
	held, err := t.holdSnapshots(ctx)
	if err != nil {
		return err
	}
	if held != nil {
		defer func() { err = errors.Join(err, held.Release()) }()
	}
	for _, c := range t.transcriptChanges() { // before the states that name them
		if c.place.Stays {
			continue
		}
		if c.data == nil {
			if err := disk.Remove(c.path); err != nil {
				return fmt.Errorf("remove transcript: %w", err)
			}
			continue
		}
		info, err := os.Lstat(c.path)
		if err == nil {
			err = disk.WriteDurable(c.path, c.data, info.Mode().Perm())
		}
		if err != nil {
			return fmt.Errorf("rewrite transcript: %w", err)
		}
	}
	return t.eachFile(func(path string, data []byte) error {
		next := bytes.Clone(data)
		eachOID(data, t.w.Repo.Format.HexLen(), func(at int, oid git.OID) {
			if now := j.Moved[oid]; now != "" {
				copy(next[at:], now)
			}
		})
		if !bytes.Equal(next, data) {
			next = bands.UpdateChecksum(next)
		}
		c, has := t.recordChange(path, next)
		switch {
		case has && c.place.Stays:
			return nil
		case has && c.data == nil:
			return disk.Remove(path)
		case has:
			next = c.data
		}
		if bytes.Equal(next, data) {
			return nil
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		return disk.WriteDurable(path, next, info.Mode().Perm())
	})
}

// storeAgain makes the sessions whose stored transcript matches store it again, masked: their
// states have a hash of the stored transcript.
func (t *target) storeAgain(ctx context.Context) error {
	if t.find == nil {
		return nil
	}
	var p refPlan
	if err := t.searchObjects(ctx, &p); err != nil {
		return err
	}
	states, _ := t.w.Sessions.All() // one that can't be read is masked as a file
	for _, s := range states {
		to := checkpoint.SegmentWriter{Repo: t.w.Repo, Side: func(st session.Segments) session.Side { return t.w.Sessions.SegmentsOf(s.ID, st) }}
		stored, err := to.Transcript(s.Recorder.Stored)
		hit := err != nil || slices.ContainsFunc(stored.Segments, func(oid git.OID) bool { return p.hits[oid] })
		if s.Recorder.Stored.Lines == 0 || !hit {
			continue
		}
		s.Recorder.Stored = s.Recorder.Stored.Anew()
		if err := t.w.Sessions.Save(s); err != nil {
			return err
		}
	}
	return nil
}
