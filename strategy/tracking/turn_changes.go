package tracking

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// TurnChanges separates the paths changed by the running turn from those changed by others. A path
// named by an edit tool is the turn's. Any other path is the turn's if it changed, by the file
// system's time, since the turn began and while a tool ran that can write any file; without
// usable times in the transcript, only the former is required. A path that changed later is the
// turn's, too, if a command of the turn names it: somebody else has changed it again. What changed
// after the prompt that followed the turn is judged in the same way.
type TurnChanges struct {
	Repo  *git.Repo
	Turn  session.Turn
	Named map[string]bool // by edit tools, in this worktree
	// Work is the work of the turn, nil if it isn't known.
	Work  *Work
	known map[string]bool // the entries of git's status before the turn, see statusKey
	head  git.OID         // HEAD's tree
	// until is the time of the prompt that followed the turn, zero if there is none.
	until time.Time
	// unsure are the turn's paths that changed after the calls that name them, late those that
	// changed after the following prompt.
	unsure map[string]bool
	late   []string
	// unknown are those of late whose contents at that prompt aren't known.
	unknown []string
}

// statusKey returns the key of an untracked or deleted path. Other states needn't be recorded,
// as their files have times.
func statusKey(e git.StatusEntry) string {
	switch {
	case e.Index == '?':
		return "?" + e.Path
	case e.Worktree == 'D' || e.Index == 'D':
		return "D" + e.Path
	default:
		return ""
	}
}

// changedAt returns when a path last changed. It is the time of the nearest directory for one that
// doesn't exist.
func (ch *TurnChanges) changedAt(p string) time.Time {
	info, err := os.Lstat(filepath.Join(ch.Repo.Root, filepath.FromSlash(p)))
	if err != nil {
		return workspace.RemovalTime(ch.Repo.Root, p)
	}
	return disk.Changed(info)
}

// Judge reports whether a path that changed is the turn's: an edit tool named it, it changed while
// a call ran that can write it, or it changed later and a command names it. In the last case others
// may have changed it since, also if an edit tool named it: then it is unsure. It is unsure, too, if
// the edit isn't shown and the path changed after the last call.
func (ch *TurnChanges) Judge(p string) (is, unsure bool) {
	at := ch.changedAt(p)
	switch {
	case ch.wrote(p, at):
		return true, false
	case ch.Turn.Start.IsZero() || at.Before(ch.Turn.Start) || ch.Work == nil:
		return ch.Named[p], false
	}
	unsure = ch.Work.Reaches(p, at) || ch.Named[p] && ch.Turn.Timed && !ch.Work.IsSeen(p, at)
	return unsure || ch.Named[p], unsure
}

// IsShown reports whether the transcript shows every call that can have changed a path: it changed
// before the last line that the transcript had when its end was read, or that line is the call of a
// shell that still runs.
func (ch *TurnChanges) IsShown(p string) bool {
	last := time.Time{}
	for _, c := range ch.Turn.Calls {
		if c.Open && !transcript.IsTask(c.Tool) {
			return ch.Turn.Timed
		}
		for _, at := range []time.Time{c.Start, c.End} {
			if at.After(last) {
				last = at
			}
		}
	}
	return ch.Turn.Timed && ch.changedAt(p).Before(last)
}

// wrote reports whether a change of a path at this time can be the turn's: a call ran then that can
// write it.
func (ch *TurnChanges) wrote(p string, at time.Time) bool {
	if !ch.During(at) || ch.Work == nil || !ch.Turn.Timed {
		return ch.During(at)
	}
	return slices.ContainsFunc(ch.Turn.Calls, func(c transcript.Call) bool {
		return ranAt(c, at) && ch.Work.MayWrite(c, p, at)
	})
}

func (ch *TurnChanges) changed(ctx context.Context, e git.StatusEntry) (bool, error) {
	full := filepath.Join(ch.Repo.Root, filepath.FromSlash(e.Path))
	info, err := os.Lstat(full)
	switch {
	case ch.Turn.Late && err != nil: // it may have been removed before the turn
		at := workspace.RemovalTime(ch.Repo.Root, e.Path)
		return ch.During(at) && ch.Work != nil && ch.Work.Reaches(e.Path, at), nil
	case err != nil:
		return !ch.known[statusKey(e)] && ch.wrote(e.Path, workspace.RemovalTime(ch.Repo.Root, e.Path)), nil
	case info.IsDir() && (e.Worktree == 'D' || e.Index == 'D'): // a file became a folder
		return !ch.known[statusKey(e)] && ch.wrote(e.Path, disk.Changed(info)), nil
	case info.IsDir():
		return ch.During(moduleTime(full)), nil
	case ch.wrote(e.Path, disk.Changed(info)):
		return true, nil
	case ch.Turn.Late, e.Index != '?' || ch.known[statusKey(e)] || !disk.Changed(info).Before(ch.Turn.Start):
		return false, nil
	}
	// An untracked file may be in a directory that was renamed during the turn: then the
	// directory has a new time and the file doesn't.
	for dir := path.Dir(e.Path); dir != "."; dir = path.Dir(dir) {
		info, err := os.Lstat(filepath.Join(ch.Repo.Root, filepath.FromSlash(dir)))
		if err != nil || !ch.wrote(e.Path, disk.Changed(info)) {
			continue
		}
		for k := range ch.known {
			if strings.HasPrefix(k[1:], dir+"/") {
				return false, nil
			}
		}
		if ch.head == "" {
			return true, nil
		}
		_, tracked, err := git.LookupPath(ctx, ch.Repo, ch.head, dir)
		return err == nil && !tracked, err
	}
	return false, nil
}

// take adds the files changed by the turn to the pending files, removes those that it
// reverted, and returns the former.
func (ch *TurnChanges) take(ctx context.Context, s *session.State, seen observation) ([]string, error) {
	var touched []string
	listed := make(map[string]bool, len(seen.entries))
	for _, e := range seen.entries {
		listed[e.Path] = true
		if strings.HasSuffix(e.Path, "/") || e.Path == ".entire" || strings.HasPrefix(e.Path, ".entire/") {
			continue // a nested repository, or a file of this program
		}
		is := ch.Named[e.Path]
		if !is && !ch.Turn.Start.IsZero() {
			var err error
			if is, err = ch.changed(ctx, e); err != nil {
				return nil, fmt.Errorf("find what the turn changed: %w", err)
			}
		}
		judged, unsure := ch.Judge(e.Path)
		if key := statusKey(e); !is && (!judged || strings.HasPrefix(key, "D") && ch.known[key]) {
			continue
		}
		touched = append(touched, e.Path)
		if unsure {
			ch.unsure[e.Path] = true
		}
		if !ch.until.IsZero() && !ch.changedAt(e.Path).Before(ch.until) {
			ch.late = append(ch.late, e.Path)
		}
	}
	slices.Sort(touched)
	touched = slices.Compact(touched)
	if seen.complete() {
		// The turn reverted the files that are no longer in git's status, and changed or
		// disappeared during the turn.
		s.Keep(slices.DeleteFunc(slices.Clone(s.FilesTouched), func(p string) bool {
			if listed[p] {
				return false
			}
			info, err := os.Lstat(filepath.Join(ch.Repo.Root, filepath.FromSlash(p)))
			if err != nil {
				return ch.During(workspace.RemovalTime(ch.Repo.Root, p))
			}
			return ch.Named[p] || ch.During(disk.Changed(info))
		}))
	}
	s.Touch(touched)
	return touched, nil
}

// During reports whether a change at this time can be the turn's.
func (ch *TurnChanges) During(at time.Time) bool {
	if ch.Turn.Start.IsZero() || at.Before(ch.Turn.Start) || !ch.until.IsZero() && !at.Before(ch.until) {
		return false
	}
	if !ch.Turn.Timed {
		return true
	}
	return slices.ContainsFunc(ch.Turn.Calls, func(c transcript.Call) bool { return ranAt(c, at) })
}

// ranAt reports whether a call may have run at a time.
func ranAt(c transcript.Call, at time.Time) bool {
	return c.Start.IsZero() ||
		!at.Before(c.Start.Add(-workspace.ClockSlack)) && (c.Open || !at.After(c.End.Add(workspace.ClockSlack)))
}

// moduleTime returns when another commit was last checked out in a submodule.
func moduleTime(dir string) time.Time {
	var latest time.Time
	gitDir := filepath.Join(dir, ".git")
	if data, err := disk.ReadFile(gitDir); err == nil {
		target := strings.TrimSpace(strings.TrimPrefix(string(data), "gitdir:"))
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		gitDir = target
	}
	for _, name := range []string{"HEAD", "logs/HEAD"} {
		var info fs.FileInfo
		info, err := os.Lstat(filepath.Join(gitDir, name))
		if err == nil && disk.Changed(info).After(latest) {
			latest = disk.Changed(info)
		}
	}
	return latest
}

// After returns the record of git's status after it listed these entries: of all paths, or if
// asked isn't nil of only these.
func (ch *TurnChanges) After(asked []string, entries []git.StatusEntry) map[string]bool {
	known := map[string]bool{}
	if asked != nil {
		maps.Copy(known, ch.known)
	}
	for _, p := range asked {
		delete(known, "?"+p)
		delete(known, "D"+p)
	}
	for _, e := range entries {
		if k := statusKey(e); k != "" {
			known[k] = true
		}
	}
	return known
}

// EncodeKnown returns the side file with the entries of git's status.
func EncodeKnown(known map[string]bool) []byte {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(known)) {
		b.WriteString(k)
		b.WriteByte(0)
	}
	return []byte(b.String())
}

func decodeKnown(data []byte) map[string]bool {
	known := map[string]bool{}
	for k := range strings.SplitSeq(string(data), "\x00") {
		if k != "" {
			known[k] = true
		}
	}
	return known
}

// DropCommitted removes the committed paths from the session's record of untracked or deleted
// ones, so that a later turn that makes the same change is detected.
func DropCommitted(w *workspace.Workspace, s *session.State, n *Pending, changes CommitChanges) error {
	data, err := w.Sessions.SideOf(s, session.UntrackedKind).ReadAll()
	if err != nil || len(data) == 0 {
		return err
	}
	var b strings.Builder
	for k := range strings.SplitSeq(strings.TrimSuffix(string(data), "\x00"), "\x00") {
		if k == "" {
			continue
		}
		if _, committed := changes[k[1:]]; !committed {
			b.WriteString(k)
			b.WriteByte(0)
		}
	}
	if b.Len() < len(data) {
		n.Known = []byte(b.String())
	}
	return nil
}
