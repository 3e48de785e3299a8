// Package doctor finds faults in the records of a repository, explains their consequences, and
// repairs them. docs/formats/doctor.md lists the findings.
//
// Examine writes nothing. Repairs are done by the functions that hooks use, after a backup of
// everything that they may change, so that they can be undone. No repair discards pending work or
// invents a checkpoint that no commit names.
package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Severity is the severity of a finding.
type Severity string

// The severities. A Note is information and no problem; a Warning is a loss, or something that
// won't work until it is repaired; an Error is damage.
const (
	Note    Severity = "note"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// The codes of findings.
const (
	StuckSession       = "stuck-session"
	PendingSession     = "pending-session"
	UnfinishedTurn     = "unfinished-turn"
	DamagedState       = "damaged-state"
	UnknownPhase       = "unknown-phase"
	SideFileLost       = "side-file-lost"
	UnfinishedCommit   = "unfinished-commit"
	StaleDecision      = "stale-decision"
	InterruptedForget  = "interrupted-forget"
	DamagedJournal     = "damaged-journal"
	DamagedTombstones  = "damaged-tombstones"
	LostCheckpoint     = "lost-checkpoint"
	ForeignCheckpoint  = "foreign-checkpoint"
	LostBranch         = "lost-branch"
	BlockedBranch      = "blocked-branch"
	UnfetchedPoint     = "unfetched-checkpoint"
	UnusedCheckpoints  = "unused-checkpoints"
	DamagedCheckpoint  = "damaged-checkpoint"
	CheckpointSummary  = "checkpoint-summary"
	AbsentContent      = "absent-content"
	AbsentCommits      = "absent-commits"
	OversizedBlob      = "oversized-blob"
	BrokenRef          = "broken-ref"
	StaleLock          = "stale-lock"
	TemporaryFiles     = "temporary-files"
	DamagedStore       = "damaged-store"
	DamagedSnapshot    = "damaged-snapshot"
	DamagedContext     = "damaged-context"
	DamagedCatalog     = "damaged-catalog"
	CatalogBehind      = "catalog-behind"
	InterruptedRestore = "interrupted-restore"
	NotExamined        = "not-examined"
	PartlyExamined     = "partly-examined"
	OlderRules         = "older-rules"
	NoTranscript       = "no-transcript"
	UnmaskedSecret     = "unmasked-secret"
)

// Finding is a fault found by a check.
type Finding struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	// Subject names the object of the finding: a session, a commit, a path.
	Subject string `json:"subject,omitempty"`
	What    string `json:"what"`
	Why     string `json:"why,omitempty"` // its consequence
	// Fix describes what Repair does, Hint what the user can do. Either may be empty.
	Fix  string `json:"fix,omitempty"`
	Hint string `json:"hint,omitempty"`

	Repair *Repair `json:"-"`
}

// Problem reports whether the finding needs action.
func (f Finding) Problem() bool { return f.Severity != Note }

// Repair repairs a finding, and lists everything that it may change. Findings that share one are
// repaired together.
type Repair struct {
	// Kind is equal for repairs that are done, and undone, together; empty for the finding's code.
	Kind string
	// Files are absolute paths, Refs full names.
	Files []string
	Refs  []string
	// Checkpoints are the checkpoints that it may write.
	Checkpoints []checkpoint.ID
	// Preview returns the changes in files of the branch of checkpoints, a line each; nil if they
	// are not known before the repair.
	Preview func(ctx context.Context) ([]string, error)
	Do      func(ctx context.Context) error
}

// Check finds faults of one kind, and writes nothing. An error means that it could not run.
type Check func(ctx context.Context) ([]Finding, error)

// Doctor examines and repairs the records of the workspace's repository, including all its
// worktrees.
type Doctor struct {
	Workspace *workspace.Workspace
	// All examines every checkpoint, however long the record is; else the last ones are examined,
	// and a Note reports that.
	All bool
	// More are checks of records that this package has no access to.
	More []Check
	// Progress is called with the number of finished checks or repairs and their total, unless it
	// is nil.
	Progress func(done, total int64)
}

// Examine runs every check. It returns only errors of ctx: an object that can't be examined is a
// finding.
func (d *Doctor) Examine(ctx context.Context) ([]Finding, error) {
	// Read data once that several checks need. The commits of all refs are listed in the background.
	e := &exam{w: d.Workspace, repo: d.Workspace.Repo}
	e.states, e.bad = e.w.Sessions.All()
	e.open, e.openErr = record.OpenCommits(ctx, e.w)
	e.v1 = e.loadBranch(ctx, d.All, func(partial bool) {
		if partial {
			return // checkpoints that no commit names are not searched
		}
		e.everywhere.wait = inBackground(func() (err error) {
			e.everywhere.ids, err = e.namedCheckpoints(ctx, "--ignore-missing", "--exclude=refs/heads/entire/*", "--exclude=refs/entire/*", "--all", "--reflog")
			return err
		})
	})
	var list []Finding
	refs, sessions, journal := refChecks{e}, sessionChecks{e}, journalChecks{e}
	checkpoints, trailers, stores := checkpointChecks{e}, trailerChecks{e}, storeChecks{e}
	checks := append([]Check{ // findings are reported in this order
		refs.broken,
		refs.staleLocks,
		sessions.damaged,
		sessions.stuck,
		sessions.unfinishedTurns,
		sessions.lostSideFiles,
		journal.unfinished,
		checkpoints.lostBranch,
		checkpoints.blockedBranch,
		checkpoints.notAll,
		checkpoints.unreadable,
		trailers.missing,
		checkpoints.unused,
		checkpoints.oversized,
		checkpoints.olderRules,
		stores.damaged,
		stores.damagedContexts,
		stores.interruptedRewinds,
		stores.damagedCatalog,
		refs.temporaryFiles,
	}, d.More...)
	for i, check := range checks {
		if d.Progress != nil {
			d.Progress(int64(i), int64(len(checks)))
		}
		found, err := check(ctx)
		for _, f := range found {
			if f.Repair == nil {
				f.Fix = ""
			}
			list = append(list, f)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var failed []Finding // one for each line of the error's text
		for _, text := range lines(err) {
			if hint, ok := strings.CutPrefix(text, "hint: "); ok && len(failed) > 0 {
				failed[len(failed)-1].Hint = hint // a hint belongs to the line before
				continue
			}
			failed = append(failed, Finding{
				Code: NotExamined, Severity: Error, What: "a check failed: " + text,
				Why: "there may be other problems",
			})
		}
		list = append(list, failed...)
	}
	return list, nil
}

// lines returns the lines of an error's text, none for nil.
func lines(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(plain.Error(err), "\n")
}

// some returns the first items of a list and the number of the others.
func some(list []string) string {
	const most = 3
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}
