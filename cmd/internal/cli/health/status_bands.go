package health

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

// snapshotsJSON is the part of `status` about the snapshots of this worktree.
type snapshotsJSON struct {
	Enabled bool                   `json:"enabled"`
	Count   int                    `json:"count"` // of all worktrees
	Latest  *format.CheckpointJSON `json:"latest"`
	Linking string                 `json:"linking,omitempty"`
	// Bytes is the disk space that all of them take, Cap the maximum.
	Bytes   int64    `json:"bytes"`
	Cap     int64    `json:"cap"`
	LeftOut []string `json:"left_out"`
	// Missed holds the checkpoints of commits for which no snapshot was taken in time.
	Missed []string `json:"missed"`

	last bands.Snapshot
}

// addSnapshots reports the state of the repository's store, and conditions that prevent snapshots.
func addSnapshots(a *app.App, r *statusReport, repo *git.Repo, s settings.Settings) {
	r.Snapshots = &snapshotsJSON{Enabled: s.Enabled && s.Bands.Enabled, LeftOut: []string{}, Missed: []string{}}
	store, err := bands.Open(registry.RepositoryDir(repo.CommonDir))
	if errors.Is(err, bands.ErrNoStore) {
		return
	}
	if err != nil {
		r.Notes = append(r.Notes, app.Note{Code: "snapshots-damaged", Message: "Can't read the snapshot store: " + err.Error()})
		return
	}
	w := a.WorkspaceOf(repo, s, slog.New(slog.DiscardHandler))
	r.Snapshots.Linking = string(store.Linking())
	r.Snapshots.Cap = bands.CapAt(store.Dir(), s.Bands.Cap)
	r.Snapshots.Bytes, _ = store.QuickSize() // errors are reported below
	versions, err := store.Versions()
	if err == nil {
		r.Snapshots.Count = len(versions)
		var last bands.Snapshot
		var found bool
		if last, found, err = store.Lineage(tracking.Lineage(w)).Latest(); err == nil && found {
			latest := format.NewCheckpointJSON(last)
			r.Snapshots.Latest, r.Snapshots.LeftOut, r.Snapshots.last = &latest, format.NotNil(last.LeftOut), last
		}
	}
	if err != nil {
		r.Notes = append(r.Notes, app.Note{
			Code: "snapshots-damaged", Message: "Can't read some snapshots: " + err.Error(), Hint: "run `entire snapshot verify`",
		})
	}
	if bad, err := store.Damaged(); err == nil && len(bad) > 0 {
		r.Notes = append(r.Notes, app.Note{
			Code: "snapshots-damaged", Message: format.DamageText(len(bad)),
			Hint: "the next snapshot repairs it where files are unchanged: `entire snapshot create`, then `entire snapshot verify`",
		})
	}
	if text := format.AutoFailures(store, a.Now()); text != "" {
		r.Notes = append(r.Notes, app.Note{Code: "auto-failed", Message: text, Hint: "`entire snapshot create` takes one now"})
	}
	r.Snapshots.Missed = format.NotNil(tracking.MissedRequests(w))
	if !r.Snapshots.Enabled {
		return
	}
	space, err := disk.SpaceAt(store.Dir())
	if err != nil {
		return
	}
	floor := s.Bands.FreeFloor
	if floor == 0 {
		floor = bands.DefaultFloor(space.Total)
	}
	if space.Free < floor {
		r.Notes = append(r.Notes, app.Note{
			Code:    "floor",
			Message: fmt.Sprintf("No automatic snapshots are taken: %s free, %s required.", format.Size(space.Free), format.Size(floor)),
			Hint:    "free disk space, or lower bands.free_floor",
		})
	}
}

// printSnapshots prints a line about the latest snapshot and the space that all take, and lines
// about files and checkpoints that are missing.
func printSnapshots(a *app.App, w ui.Streams, j *snapshotsJSON, detailed bool) {
	switch {
	case j == nil:
		return
	case !j.Enabled && j.Count == 0:
		w.Printf("Snapshots: off\n")
		return
	case !j.Enabled:
		w.Printf("Snapshots: off (%s kept)\n", ui.Plural(j.Count, "snapshot"))
		return
	case j.Latest == nil:
		w.Printf("Snapshots: none of this worktree yet\n")
		return
	}
	title := format.Quoted(j.Latest.Message)
	if turn := format.TurnText(j.last); turn != "" {
		title = ", " + turn
	}
	w.Printf("Snapshots: %d, %s of %s used, latest %s%s (%s)\n", j.Count, format.Size(j.Bytes), format.Size(j.Cap),
		j.Latest.Version, title, ui.Ago(a.Now(), j.last.Created))
	if text := format.PairText(j.last); text != "" && detailed {
		w.Printf("  of commit %s\n", text)
	}
	if detailed {
		w.Printf("  %s\n", format.LinkingText(j.Linking))
	}
	for _, path := range j.LeftOut {
		w.Printf("  left out, no room: %s\n", format.Path(path))
	}
	for _, id := range j.Missed {
		w.Printf("  checkpoint %s has no snapshot\n", id)
	}
}
