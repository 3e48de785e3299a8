package authorship

import (
	"context"
	"maps"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Former is a commit whose changes may be committed again, with the lines that its sessions wrote.
type Former struct {
	Link tracking.Link

	w              *workspace.Workspace
	commit, parent git.Commit
	slots          []checkpoint.Attribution
	contents
}

// sessions is the author of the lines of all sessions of a former commit.
const sessions attribution.Author = "sessions"

// ReadFormer reads the commit of a link. A link without an id is of a commit without sessions, all of
// whose lines are compared.
func ReadFormer(ctx context.Context, w *workspace.Workspace, l tracking.Link) (*Former, error) {
	f := &Former{Link: l, w: w, contents: contents{repo: w.Repo, room: mostCompared}}
	var err error
	if f.commit, err = w.Repo.Commit(ctx, string(l.Commit)); err != nil {
		return nil, err
	}
	if len(f.commit.Parents) > 0 {
		if f.parent, err = w.Repo.Commit(ctx, string(f.commit.Parents[0])); err != nil {
			return nil, err
		}
	}
	if l.ID == "" {
		return f, nil
	}
	stored, err := ReadCheckpoint(ctx, w, l.ID)
	for _, slot := range stored.Sessions {
		if recorded, ok := checkpoint.ParseAttribution(slot.Meta.Attribution); ok {
			f.slots = append(f.slots, recorded)
		}
	}
	return f, err
}

// Paths returns the known files of the sessions in the commit, sorted.
func (f *Former) Paths() []string { return slices.Sorted(maps.Keys(f.Link.Blobs)) }

// Blob returns the file as the commit left it, GoneBlob if it removed the file. It returns false if
// the commit didn't change it, or no session did.
func (f *Former) Blob(ctx context.Context, path string) (git.OID, bool) {
	if f.Link.Blobs != nil {
		blob, ok := f.Link.Blobs[path]
		return blob, ok
	}
	now, found, err := f.w.Lookup(ctx, f.commit.Tree, path)
	if err != nil {
		return "", false
	}
	before := f.before(ctx, path)
	if !found {
		return tracking.GoneBlob, before != tracking.GoneBlob
	}
	return now.OID, now.OID != before
}

// before returns the file as the commit's parent has it.
func (f *Former) before(ctx context.Context, path string) git.OID {
	if f.parent.OID == "" {
		return tracking.GoneBlob
	}
	e, found, err := f.w.Lookup(ctx, f.parent.Tree, path)
	if err != nil || !found {
		return tracking.GoneBlob
	}
	return e.OID
}

// Share returns how many of the changes that the commit's sessions made to a file are made by a
// change from the blob base to the content final. It returns false if the contents can't be
// compared by lines.
func (f *Former) Share(ctx context.Context, path string, base git.OID, final []byte) (attribution.Share, bool) {
	blob, ok := f.Blob(ctx, path)
	if !ok || blob == tracking.GoneBlob {
		return attribution.Share{}, false
	}
	before := f.before(ctx, path)
	var texts [3][]byte
	for i, oid := range []git.OID{base, before, blob} {
		if texts[i], ok = f.read(ctx, oid); !ok || f.room < 0 {
			return attribution.Share{}, false
		}
	}
	s := attribution.State{By: sessions, Content: texts[2]}
	f.addKnown(ctx, &s, path, blob, before == base)
	file := attribution.File{Base: texts[0], Final: final, States: []attribution.State{{Content: texts[1]}, s}}
	return file.Shares()[sessions], true
}

// addKnown adds the recorded authors of the commit's lines. Without a record, all lines that the
// commit adds to the file are the sessions'.
func (f *Former) addKnown(ctx context.Context, s *attribution.State, path string, blob git.OID, sameBase bool) { //nolint:gocognit // one pass over the record's files
	name := f.w.Redact.Path(path)
	known := &attribution.Known{Written: map[int]attribution.Author{}, Origins: map[int]attribution.Origin{}, Modified: map[int]bool{}, Removed: map[int]attribution.Author{}}
	found := false
	for _, slot := range f.slots {
		for _, file := range slot.Files {
			if string(file.Path) != name || file.Estimated || file.Blob == "" {
				continue
			}
			var follow []int // the lines of the record, for each line of the content
			if file.Blob != blob {
				was, ok := f.read(ctx, file.Blob)
				if !ok {
					continue
				}
				follow = attribution.Follow(was, s.Content)
			}
			found = true
			own := map[int]bool{}
			for _, line := range rangeLines(file.AgentRanges, largestFile) {
				own[line] = true
				if follow == nil {
					known.Written[line] = sessions
				}
			}
			for line, was := range follow {
				if own[was] {
					known.Written[line] = sessions
				}
			}
			if sameBase {
				for _, line := range rangeLines(file.RemovedRanges, largestFile) {
					known.Removed[line] = sessions
				}
			}
		}
	}
	if found {
		s.By, s.Known = attribution.Person, known
	}
}
