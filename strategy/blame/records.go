package blame

import (
	"context"
	"maps"
	"path"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
)

// record holds the authors of a commit's lines from one of its checkpoints.
type record struct {
	source checkpoint.Source // has it, if it is stored
	stored bool
	slots  []slot
	// complete reports that it has every file in which a session wrote something.
	complete bool
}

// slot is a session of a checkpoint.
type slot struct {
	meta     checkpoint.SessionMeta
	recorded checkpoint.Attribution
	// files are by path. Files of earlier versions, which are bound to no blob, are omitted.
	files map[string]file
}

// file is a file's record.
type file struct {
	checkpoint.FileAttribution

	own, added, unsure checkpoint.LineRanges
	written            map[int]checkpoint.LineRanges
}

// mostSlots is the number of sessions of each checkpoint that are resolved at once.
const mostSlots = 3

// readRecords reads the records of all checkpoints that the groups' commits name.
func (at *attributing) readRecords(ctx context.Context, groups []*group) (err error) {
	ids := at.emptyRecords(groups)
	records, err := at.Workspace.Records(ctx)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(groups))
	for _, g := range groups {
		names = append(names, string(g.commit)+":"+g.path)
	}
	for n, source := range records.Sources {
		if len(ids) == 0 && n > 0 {
			break
		}
		for _, id := range ids {
			for i := range mostSlots {
				names = append(names, source.Slot(id, i))
			}
		}
		oids, err := git.ResolveNames(ctx, at.Repo, names)
		if err != nil {
			return err
		}
		if n == 0 {
			for i, g := range groups {
				g.blob = oids[i]
			}
			oids = oids[len(groups):]
		}
		if ids, err = at.readSlots(ctx, source, ids, oids); err != nil {
			return err
		}
		names = nil
	}
	return nil
}

// emptyRecords creates an empty record for each checkpoint that the groups' commits name, and
// returns their ids.
func (at *attributing) emptyRecords(groups []*group) (ids []checkpoint.ID) {
	at.records = map[checkpoint.ID]*record{}
	for _, g := range groups {
		for _, id := range g.ids {
			if at.records[id] == nil {
				at.records[id] = &record{}
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// readSlots reads the slots of checkpoints from a source. oids has mostSlots objects for each id. It
// returns the ids that the source doesn't have.
func (at *attributing) readSlots(ctx context.Context, source checkpoint.Source, ids []checkpoint.ID, oids []git.OID) (missing []checkpoint.ID, err error) {
	place := map[git.OID][]checkpoint.ID{}
	var wanted []git.OID
	for i, id := range ids {
		of := oids[i*mostSlots : (i+1)*mostSlots]
		if of[mostSlots-1] != "" {
			at.records[id].source, at.records[id].stored = source, true
			// A checkpoint that can't be read is treated as missing.
			if c, err := source.Read(ctx, id); err == nil {
				for _, s := range c.Sessions {
					at.records[id].add(s.Meta)
				}
			}
			continue
		}
		found := false
		for _, oid := range of {
			if oid == "" {
				continue
			}
			found = true
			if place[oid] == nil {
				wanted = append(wanted, oid)
			}
			place[oid] = append(place[oid], id)
		}
		if !found {
			missing = append(missing, id)
			continue
		}
		at.records[id].source, at.records[id].stored = source, true
	}
	err = at.Repo.ReadMany(ctx, wanted, func(o git.Object) error {
		if meta, err := checkpoint.ParseSession(o.Data); err == nil {
			for _, id := range place[o.OID] {
				at.records[id].add(meta)
			}
		}
		return nil
	})
	for _, id := range ids {
		at.records[id].judge()
	}
	return missing, err
}

func (rec *record) add(meta checkpoint.SessionMeta) {
	s := slot{meta: meta, files: map[string]file{}}
	s.recorded, _ = checkpoint.ParseAttribution(meta.Attribution)
	for _, f := range s.recorded.Files {
		if f.Blob == "" {
			continue
		}
		one := file{FileAttribution: f, own: checkpoint.ParseRanges(f.AgentRanges), written: checkpoint.ParseWritten(f.Written), unsure: checkpoint.ParseRanges(f.Unsure)}
		if one.added = one.own; f.AddedRanges != "" {
			one.added = checkpoint.ParseRanges(f.AddedRanges)
		}
		s.files[string(f.Path)] = one
	}
	rec.slots = append(rec.slots, s)
}

// judge determines whether the record is complete: its files have all lines that sessions wrote. One that
// was imported is not: it has the lines that were found in transcripts.
func (rec *record) judge() {
	rec.complete = len(rec.slots) > 0
	for _, s := range rec.slots {
		isOurs := checkpoint.CountsSessions(s.meta.Attribution)
		isBound := len(s.files) == len(s.recorded.Files) && (s.recorded.SessionLines == 0 || len(s.files) > 0)
		rec.complete = rec.complete && isOurs && isBound && !s.recorded.Estimated && !s.meta.IsImported()
	}
}

// bound returns the record of a file in a slot: by path, else by blob, else the only one with the
// same base name.
func (s *slot) bound(name string, blob git.OID) (file, bool) {
	if f, ok := s.files[name]; ok {
		return f, true
	}
	var same []file
	for _, other := range slices.Sorted(maps.Keys(s.files)) { // of equal ones the first
		f := s.files[other]
		if blob != "" && f.Blob == blob {
			return f, true
		}
		if path.Base(other) == path.Base(name) {
			same = append(same, f)
		}
	}
	if len(same) == 1 {
		return same[0], true
	}
	return file{}, false
}

// writer returns the author of a line with the writer's data from the slot.
func (s *slot) writer(f file, line int, a Author) Author {
	a.Kind, a.Agent, a.Session, a.Imported = Agent, s.meta.Agent, s.meta.SessionID, s.meta.IsImported()
	for i, r := range f.written {
		if i >= len(s.recorded.Writers) || !r.Has(line) {
			continue
		}
		w := s.recorded.Writers[i]
		if w.Turn >= 0 && w.Turn < len(s.recorded.Turns) {
			a.Turn = s.recorded.Turns[w.Turn]
		}
		a.Call, a.Subagent, a.Type = w.Call, w.Subagent, w.Type
	}
	return a
}
