package health

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// sessionJSON is a session that hasn't ended.
type sessionJSON struct {
	ID             string        `json:"id"`
	Agent          string        `json:"agent"`
	Phase          string        `json:"phase"`
	Worktree       string        `json:"worktree"`
	Branch         string        `json:"branch,omitempty"`
	StartedAt      time.Time     `json:"started_at"`
	ActiveAt       *time.Time    `json:"active_at,omitempty"`
	FirstPrompt    string        `json:"first_prompt,omitempty"`
	AgentGone      bool          `json:"agent_gone,omitempty"`
	PendingFiles   int           `json:"pending_files"`
	Files          session.Paths `json:"files"`
	SharedFiles    int           `json:"shared_files,omitempty"`
	LastCheckpoint string        `json:"last_checkpoint,omitempty"`
	Checkpoint     *storedJSON   `json:"checkpoint,omitempty"`
}

// addRecords reports the open sessions, hook failures and unfinished operations.
func addRecords(ctx context.Context, a *app.App, r *statusReport, repo *git.Repo) {
	states, failed := session.Open(repo.CommonDir).All()
	for _, err := range failed {
		r.Notes = append(r.Notes, app.Note{Code: "session-state", Message: "Can't read a session's state: " + err.Error()})
	}
	branches := map[string]string{}
	var incomplete []string
	for _, s := range states {
		incomplete = append(incomplete, s.Recorder.Incomplete...)
		if s.EndedAt != nil {
			continue
		}
		if _, known := branches[s.WorktreePath]; !known {
			branches[s.WorktreePath] = query.BranchOf(ctx, repo, git.Locate{Getenv: a.Getenv, Environ: a.Environ}, s.WorktreePath)
		}
		r.Sessions = append(r.Sessions, sessionJSON{
			ID: s.ID, Agent: cmp.Or(s.AgentType, "Agent"), Phase: string(s.Phase),
			Worktree: s.WorktreePath, Branch: branches[s.WorktreePath],
			StartedAt: s.StartedAt, ActiveAt: s.LastInteraction,
			FirstPrompt: s.FirstPrompt, PendingFiles: len(s.FilesTouched), Files: session.Paths(format.NotNil(s.FilesTouched)), SharedFiles: len(s.Recorder.Shared),
			LastCheckpoint: cmp.Or(s.LastCheckpointID, s.Recorder.CountedIn),
			AgentGone:      query.PhaseOf(s, proc.Alive) == query.Gone,
		})
	}
	slices.SortStableFunc(r.Sessions, func(x, y sessionJSON) int {
		if here := x.Worktree == repo.Root; here != (y.Worktree == repo.Root) {
			if here {
				return -1
			}
			return 1
		}
		return cmp.Or(strings.Compare(x.Worktree, y.Worktree), y.StartedAt.Compare(x.StartedAt))
	})
	for i := range r.Sessions {
		s := &r.Sessions[i]
		s.StartedAt = format.UTC(s.StartedAt)
		if s.ActiveAt != nil {
			at := format.UTC(*s.ActiveAt)
			s.ActiveAt = &at
		}
	}
	addCheckpoints(ctx, a.Workspace(repo), r.Sessions)
	if f := failures(a, r.runtime); f != nil {
		r.Failures = f
		r.Notes = append(r.Notes, app.Note{
			Code:    "hook-failures",
			Message: ui.Plural(f.Count, "hook failure") + " since " + ui.Since(a.Now(), f.Since) + ".",
			Hint:    "see " + f.Log,
		})
	}
	if len(incomplete) > 0 {
		r.Notes = append(r.Notes, app.Note{
			Code: "incomplete-transcripts",
			Message: ui.Plural(len(incomplete), "checkpoint") + " still without the end of the transcript: " +
				ui.Line(strings.Join(incomplete, ", "), format.LineWidth) + ".",
		})
	}
	r.Unfinished = len(disk.Glob(workspace.JournalDir(repo), "*.json"))
	if r.Unfinished > 0 {
		r.Notes = append(r.Notes, app.Note{
			Code:    "unfinished",
			Message: ui.Plural(r.Unfinished, "operation") + " of a hook did not finish; the next hook completes it.",
		})
	}
}

// shownSessions is the number of open sessions shown without --detailed.
const shownSessions = 5

// printSessions prints a line for each open session.
func printSessions(w ui.Streams, r *statusReport, now time.Time) {
	if len(r.Sessions) == 0 {
		return
	}
	w.Printf("%s\n", w.Paint(ui.Bold, "Active Sessions:"))
	var table ui.Table
	names := sessionNames(r.Sessions)
	for i, s := range r.Sessions[:min(shownSessions, len(r.Sessions))] {
		facts := factsOf(s)
		if s.ActiveAt != nil {
			facts = append(facts, ui.Ago(now, *s.ActiveAt))
		}
		if s.Worktree != r.Repository.Root {
			facts = append(facts, "in "+cmp.Or(ui.Line(s.Worktree, format.LineWidth), "an unknown worktree")+branchSuffix(s.Branch))
		}
		prompt := ""
		if s.FirstPrompt != "" {
			prompt = `"` + ui.Line(s.FirstPrompt, format.PromptWidth) + `"`
		}
		table.AddRow("  ["+ui.Line(s.Agent, format.LineWidth)+"] "+names[i], strings.Join(facts, ", "), prompt)
	}
	w.Printf("%s", w.Table(&table))
	if more := len(r.Sessions) - shownSessions; more > 0 {
		w.Printf("  and %d more: `entire log --sessions` lists them\n", more)
	}
}

// sessionNames returns unique prefixes of the sessions' ids.
func sessionNames(list []sessionJSON) []string {
	ids := make([]string, len(list))
	for i, s := range list {
		ids[i] = s.ID
	}
	return format.UniqueSessions(ids)
}

// printSessionsDetailed prints the open sessions, grouped by worktree, with their files.
func printSessionsDetailed(w ui.Streams, sessions []sessionJSON, now time.Time) {
	if len(sessions) == 0 {
		return
	}
	w.Printf("%s\n", w.Paint(ui.Bold, "Active Sessions:"))
	names := sessionNames(sessions)
	for i, s := range sessions {
		if i == 0 || s.Worktree != sessions[i-1].Worktree {
			w.Printf("  %s%s\n", cmp.Or(ui.Line(s.Worktree, 200), "(unknown worktree)"), branchSuffix(s.Branch))
		}
		times := "started " + ui.Ago(now, s.StartedAt)
		if s.ActiveAt != nil {
			times += ", active " + ui.Ago(now, *s.ActiveAt)
		}
		w.Printf("    [%s] %s  %s\n", ui.Line(s.Agent, 40), names[i], times)
		if s.FirstPrompt != "" {
			w.Printf("      \"%s\"\n", ui.Line(s.FirstPrompt, format.PromptWidth))
		}
		facts := factsOf(s)
		if s.LastCheckpoint != "" {
			last := "last checkpoint " + ui.Line(s.LastCheckpoint, format.NameWidth)
			if stored := s.Checkpoint; stored != nil {
				last += " " + ui.Ago(now, stored.CreatedAt)
				if by := stored.Attribution; by != nil {
					last += ", " + by.wrote
				}
			}
			facts = append(facts, last)
		}
		w.Printf("      %s\n", w.Paint(ui.Dim, strings.Join(facts, ", ")))
		for _, path := range s.Files {
			w.Printf("        %s\n", format.Path(path))
		}
	}
}

func branchSuffix(branch string) string {
	if branch == "" {
		return ""
	}
	return " (" + ui.Line(branch, 100) + ")"
}

// factsOf returns a session's state and the number of its pending files.
func factsOf(s sessionJSON) []string {
	phase := cmp.Or(s.Phase, string(session.Idle))
	if s.AgentGone {
		phase = "its agent has exited"
	}
	if s.PendingFiles == 0 {
		return []string{phase}
	}
	text := ui.Plural(s.PendingFiles, "file") + " pending"
	if s.SharedFiles > 0 {
		text += fmt.Sprintf(" (%d maybe from another session)", s.SharedFiles)
	}
	return []string{phase, text}
}

// transcriptCopiesJSON describes the transcripts that a rewind or a resume replaced. The copies are
// not redacted.
type transcriptCopiesJSON struct {
	Dir   string `json:"dir"`
	Count int    `json:"count"`
	Bytes int64  `json:"bytes"`
}

// storedJSON holds data of a session from its last checkpoint.
type storedJSON struct {
	CreatedAt   time.Time        `json:"created_at"`
	Attribution *attributionJSON `json:"attribution,omitempty"`
}

// attributionJSON is the part of a commit's attribution that `status` prints.
type attributionJSON struct {
	AgentLines      int     `json:"agent_lines"`
	UnknownLines    int     `json:"unknown_lines,omitempty"`
	TotalCommitted  int     `json:"total_committed"`
	AgentPercentage float64 `json:"agent_percentage"`
	AgentRemoved    int     `json:"agent_removed"`
	HumanRemoved    int     `json:"human_removed"`

	wrote string // in a few words
}

// addCheckpoints reads the last checkpoint of each session. If it isn't stored here, only its id is
// reported.
func addCheckpoints(ctx context.Context, w *workspace.Workspace, sessions []sessionJSON) {
	records, err := w.LocalRecords(ctx)
	if err != nil {
		return
	}
	for i := range sessions {
		s := &sessions[i]
		id, err := checkpoint.ParseID(s.LastCheckpoint)
		if err != nil {
			continue
		}
		stored, err := records.Read(ctx, id)
		if err != nil {
			continue
		}
		slot := slices.IndexFunc(stored.Sessions, func(slot checkpoint.Stored) bool { return slot.Meta.SessionID == s.ID })
		if slot < 0 {
			continue
		}
		meta := stored.Sessions[slot].Meta
		s.Checkpoint = &storedJSON{CreatedAt: format.UTC(meta.CreatedAt)}
		if by, ok := checkpoint.ParseAttribution(meta.Attribution); ok && format.WrittenBy(by) != "" {
			s.Checkpoint.Attribution = &attributionJSON{
				by.AgentLines, by.UnknownLines, by.TotalCommitted, by.AgentPercentage, by.AgentRemoved, by.HumanRemoved, format.WrittenBy(by),
			}
		}
	}
}
