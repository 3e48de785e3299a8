package authorship

import (
	"bytes"
	"context"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// replacedCommit is a commit that another one replaces, with the authors of its lines as recorded
// in its checkpoint.
type replacedCommit struct {
	commit git.Commit
	parent git.Commit // zero for a root commit
	slots  []replacedSlot
	// names maps the current names of renamed files to those in the commit.
	names map[string]string
}

// lookup returns the commit's entry for a path, and its name there, which differs if the file was
// renamed since.
func (old *replacedCommit) lookup(ctx context.Context, a *attributing, path string) (name string, e git.TreeEntry, err error) {
	e, found, err := a.w.Lookup(ctx, old.commit.Tree, path)
	if err != nil || found || !a.creates(path) {
		return path, e, err
	}
	if old.names == nil {
		old.names = map[string]string{}
		files, err := git.LineCounts(ctx, a.w.Repo, old.commit.OID, a.head)
		if err != nil {
			return path, e, err
		}
		for _, f := range files {
			if f.OldPath != "" {
				old.names[f.Path] = f.OldPath
			}
		}
	}
	if name, found = old.names[path]; !found {
		return path, e, nil
	}
	e, _, err = a.w.Lookup(ctx, old.commit.Tree, name)
	return name, e, err
}

// replacedSlot is a session of a replaced commit.
type replacedSlot struct {
	session  string
	recorded checkpoint.Attribution // zero if it has nothing useful
	counts   bool                   // recorded has the session's own lines
	files    []string               // redacted
	title    string
}

// mostReplaced is the maximum number of commits that are read if several were undone and committed
// again as one.
const mostReplaced = 20

// replacedCommits returns the commits that the decision's commit replaces, oldest first: the commit
// with its id and those between that and the parent; an amended commit without an id; or the
// commits whose ids it keeps, as a squashed merge does.
func replacedCommits(ctx context.Context, w *workspace.Workspace, d tracking.Decision, head git.Commit) []replacedCommit {
	links := tracking.Links(w)
	if d.Amend {
		i := slices.IndexFunc(links, func(l tracking.Link) bool { return l.ID == d.ID })
		if i < 0 {
			return nil
		}
		// Collect the commits from the one with the id back to the parent of head, or only the
		// first if they don't lead there.
		var list []replacedCommit
		next, reached := links[i].Commit, false
		for len(list) < mostReplaced && !reached {
			old, err := readReplacedCommit(ctx, w, next)
			if err != nil {
				w.Log.InfoContext(ctx, "replaced commit not read", "commit", next.Short(), "error", err.Error())
				break
			}
			list = append(list, old)
			next = old.parent.OID
			reached = next == "" || slices.Contains(head.Parents, next)
		}
		if !reached {
			list = list[:min(1, len(list))]
		}
		slices.Reverse(list)
		return list
	}
	if len(d.Copies) > 0 {
		var list []replacedCommit
		for _, oid := range d.Copies {
			if old, err := readReplacedCommit(ctx, w, oid); err == nil {
				list = append(list, old)
			}
		}
		return list
	}
	if d.Parent != "" && !slices.Contains(head.Parents, d.Parent) {
		if old, err := readReplacedCommit(ctx, w, d.Parent); err == nil && slices.Equal(old.commit.Parents, head.Parents) {
			return []replacedCommit{old}
		}
	}
	var list []replacedCommit
	for _, l := range links {
		if l.ID == d.ID || !slices.Contains(d.Keep, l.ID) || len(list) == mostReplaced {
			continue
		}
		if old, err := readReplacedCommit(ctx, w, l.Commit); err == nil {
			list = append(list, old)
		}
	}
	slices.SortStableFunc(list, func(a, b replacedCommit) int { return a.commit.Committer.When.Compare(b.commit.Committer.When) })
	return list
}

func readReplacedCommit(ctx context.Context, w *workspace.Workspace, oid git.OID) (old replacedCommit, err error) {
	if old.commit, err = w.Repo.Commit(ctx, string(oid)); err != nil {
		return old, err
	}
	if len(old.commit.Parents) > 0 {
		if old.parent, err = w.Repo.Commit(ctx, string(old.commit.Parents[0])); err != nil {
			return old, err
		}
	}
	ids := checkpoint.IDsOf(old.commit)
	if len(ids) == 0 {
		return old, nil
	}
	stored, err := ReadCheckpoint(ctx, w, ids[len(ids)-1])
	if err != nil {
		return old, err
	}
	counts, err := git.LineCounts(ctx, w.Repo, old.parent.OID, oid)
	if err != nil {
		return old, err
	}
	added := 0
	for _, f := range counts {
		isShare := func(slot checkpoint.Stored) bool { return slices.Contains(slot.Meta.FilesTouched, f.Path) }
		if !agent.IsOwnFile(f.Path) || slices.ContainsFunc(stored.Sessions, isShare) {
			added += f.Added
		}
	}
	for _, slot := range stored.Sessions {
		recorded, ok := checkpoint.ParseAttribution(slot.Meta.Attribution)
		if ok && recorded.TotalCommitted != added { // computed for a commit that this one was made of
			recorded = checkpoint.Attribution{}
		}
		old.slots = append(old.slots, replacedSlot{session: slot.Meta.SessionID, recorded: recorded, counts: checkpoint.CountsSessions(slot.Meta.Attribution), files: slot.Meta.FilesTouched, title: slot.Meta.Title})
	}
	return old, nil
}

// addKnown adds the authors of lines that the slots of the state's commit record. A slot without
// any lines, as other versions of the tool write it, is the author of all lines of its files.
func (a *attributing) addKnown(s *attribution.State, old replacedCommit, path string, sameBase bool) {
	s.Known = &attribution.Known{Written: map[int]attribution.Author{}, Origins: map[int]attribution.Origin{}, Modified: map[int]bool{}, Removed: map[int]attribution.Author{}}
	most := bytes.Count(s.Content, []byte{'\n'}) + 1
	name := a.w.Redact.Path(path)
	for _, slot := range old.slots {
		by := attribution.Author(slot.session)
		wrote := slot.recorded.AgentLines > 0
		if slot.counts {
			wrote = slot.recorded.SessionLines > 0
		}
		if len(slot.recorded.Files) == 0 && slices.Contains(slot.files, name) && (wrote || slot.recorded.CalculatedAt.IsZero()) {
			s.By = by
		}
		for _, f := range slot.recorded.Files {
			if string(f.Path) != name {
				continue
			}
			for _, line := range rangeLines(f.AgentRanges, most) {
				s.Known.Written[line] = by
			}
			slot.addOrigins(s.Known.Origins, f, most)
			for _, line := range rangeLines(f.ModifiedRanges, most) {
				s.Known.Modified[line] = true
			}
			if !sameBase {
				continue
			}
			for _, line := range rangeLines(f.RemovedRanges, largestFile) {
				s.Known.Removed[line] = by
			}
		}
	}
}

// addOrigins adds the recorded origins of the file's lines, from 0.
func (slot replacedSlot) addOrigins(origins map[int]attribution.Origin, f checkpoint.FileAttribution, most int) {
	for _, line := range rangeLines(f.Unsure, most) {
		origins[line] = attribution.Origin{Unsure: true}
	}
	for writer, ranges := range checkpoint.ParseWritten(f.Written) {
		if writer >= len(slot.recorded.Writers) {
			continue
		}
		w := slot.recorded.Writers[writer]
		if w.Turn < 0 || w.Turn >= len(slot.recorded.Turns) || slot.recorded.Turns[w.Turn].ID == "" {
			continue
		}
		for _, line := range rangeLines(ranges.String(), most) {
			origins[line] = attribution.Origin{Turn: slot.recorded.Turns[w.Turn].ID, Call: w.Call, Subagent: w.Subagent, Type: w.Type}
		}
	}
}
