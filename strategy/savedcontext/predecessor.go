package savedcontext

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

const (
	// candidateAge is the maximum age of a session that may have been lost.
	candidateAge = 7 * 24 * time.Hour
	// maxCandidates bounds the sessions that are examined, newest first, maxHeader the bytes
	// read of each.
	maxCandidates = 30
	maxHeader     = 16 << 10
	// following is the maximum time from a clear to the start of the next session, if its
	// process is unknown.
	following = 5 * time.Minute
	// silence is how long a session of unknown process counts as running after its last hook.
	silence = 30 * time.Minute
)

// candidate is a session that has a context record.
type candidate struct {
	id string
	header
}

// candidates returns the sessions by the time of their last hook, the newest first. It lists
// one directory and reads the headers of at most maxCandidates files.
func candidates(ctx context.Context, w *workspace.Workspace) []candidate {
	dir, err := os.Open(w.Sessions.SideDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var names []string
	if err == nil {
		names, err = dir.Readdirnames(-1)
		err = errors.Join(err, dir.Close())
	}
	if err != nil {
		w.Log.WarnContext(ctx, "sessions not looked through", "error", err.Error())
	}
	type found struct {
		id string
		at time.Time
	}
	var list []found
	oldest := w.Env.Now().Add(-candidateAge)
	for _, name := range names {
		id, isMemory := strings.CutSuffix(name, "."+session.RecallKind)
		if !isMemory {
			continue
		}
		info, err := os.Lstat(filepath.Join(w.Sessions.SideDir(), name))
		if err == nil && info.ModTime().After(oldest) {
			list = append(list, found{id, info.ModTime()})
		}
	}
	slices.SortFunc(list, func(a, b found) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.id, b.id)) })
	var candidates []candidate
	for _, f := range list[:min(len(list), maxCandidates)] {
		if t, ok := readHeader(w, f.id); ok {
			candidates = append(candidates, candidate{f.id, t})
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return b.Seen.Compare(a.Seen) })
	return candidates
}

// readHeader reads the first line of a session's context record.
func readHeader(w *workspace.Workspace, id string) (header, bool) {
	var t header
	f, err := os.Open(filepath.Join(w.Sessions.SideDir(), id+"."+session.RecallKind))
	if err != nil {
		return t, false
	}
	data, err := io.ReadAll(io.LimitReader(f, maxHeader))
	if errors.Join(err, f.Close()) != nil {
		return t, false
	}
	line, _, whole := bytes.Cut(data, []byte{'\n'})
	return t, whole && json.Unmarshal(line, &t) == nil
}

// predecessor returns the session whose context was cleared for the session id: that of the
// same process. If the process is unknown, it is the session of this worktree that was cleared
// last and has no successor; else the only one still open, as some programs report no end.
func predecessor(w *workspace.Workspace, candidates []candidate, id string, agent session.Process) (candidate, bool) {
	for _, t := range candidates {
		if t.id != id && agent.PID != 0 && t.Agent == agent {
			return t, true
		}
	}
	candidates = slices.DeleteFunc(slices.Clone(candidates), func(t candidate) bool {
		known := agent.PID != 0 && t.Agent.PID != 0 // then it runs in another process
		return t.id == id || known || t.Worktree != w.Repo.Root
	})
	var open []candidate
	for _, t := range candidates {
		if e := t.End; e != nil && (e.Cause == recall.Clear || e.Cause == recall.Plan) && (e.Next == "" || e.Next == id) &&
			w.Env.Now().Sub(e.At) < following {
			return t, true
		}
		if t.Agent.PID == 0 && isRunning(w, t.header, agent) {
			open = append(open, t)
		}
	}
	if len(open) == 1 {
		return open[0], true
	}
	return candidate{}, false
}

// isRunning reports whether a session still runs while another one starts in the process
// agent.
func isRunning(w *workspace.Workspace, t header, agent session.Process) bool {
	switch {
	case t.End != nil:
		return false
	case t.Agent.PID != 0:
		return t.Agent != agent && w.Env.Alive(t.Agent.PID, t.Agent.Start)
	default:
		return w.Env.Now().Sub(t.Seen) < silence
	}
}

// saveLost saves the context of sessions of this worktree that ended without a hook: their
// process was killed, or their front end reports no end. There may be several, as after a
// power failure.
func saveLost(ctx context.Context, w *workspace.Workspace, candidates []candidate, in workspace.Input) {
	const most = 3
	candidates = slices.DeleteFunc(slices.Clone(candidates), func(t candidate) bool {
		return t.id == in.SessionID || t.End != nil || t.Worktree != w.Repo.Root || isRunning(w, t.header, in.Agent)
	})
	for _, t := range slices.Backward(candidates[:min(len(candidates), most)]) { // so that the latest session's is the newest
		c, cause := Clearing{SessionID: t.id}, recall.Lost
		if note, found := tracking.EndNoted(w, t.id); found {
			in := note.Input()
			c, cause = clearingOf(in), endCause(in)
		}
		c.Late = true
		err := end(ctx, w, c, cause, endEffort(), nil)
		if err != nil && !errors.Is(err, session.ErrNotFound) {
			w.Log.WarnContext(ctx, "context of a lost session not saved", "session_id", t.id, "error", err.Error())
		}
	}
}

// lastActive returns when a session was last active.
func lastActive(w *workspace.Workspace, id string, t header) time.Time {
	s, err := w.Sessions.Load(id)
	if err != nil || s.TranscriptPath == "" {
		return t.Seen
	}
	info, err := os.Stat(s.TranscriptPath)
	if err != nil || !info.ModTime().After(t.Seen) {
		return t.Seen
	}
	return info.ModTime()
}
