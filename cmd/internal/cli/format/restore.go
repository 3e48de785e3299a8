package format

import (
	"fmt"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// RestoredJSON is the output of `restore --json`.
type RestoredJSON struct {
	PlanJSON

	Rescue       string        `json:"rescue"`
	Verified     int           `json:"verified"`
	Failed       []FailureJSON `json:"failed"`
	Unset        []FailureJSON `json:"unset"`
	Milliseconds int64         `json:"duration_ms"`
}

// FailureJSON is the JSON of a path that was not restored.
type FailureJSON struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// NewRestoredJSON returns the JSON of a restore.
func NewRestoredJSON(done restore.Result, spent time.Duration) RestoredJSON {
	return RestoredJSON{
		PlanJSON: NewPlanJSON(done.Plan, done.Target), Rescue: done.Rescue.Version.String(),
		Verified: done.Verified, Failed: NewFailuresJSON(done.Failed), Unset: NewFailuresJSON(done.Unset), Milliseconds: spent.Milliseconds(),
	}
}

// NewFailuresJSON returns the JSON of the paths that were not restored.
func NewFailuresJSON(list []restore.Failure) []FailureJSON {
	failed := make([]FailureJSON, 0, len(list))
	for _, failure := range list {
		failed = append(failed, FailureJSON{Path: failure.Path, Error: failure.Err.Error()})
	}
	return failed
}

// PlanJSON is the output of `restore --dry-run --json`.
type PlanJSON struct {
	Version   string     `json:"version"`
	Message   string     `json:"message"`
	CreatedAt time.Time  `json:"created_at"`
	Changes   []StepJSON `json:"changes"`
	Kept      []string   `json:"kept"`
	Unknown   []string   `json:"unknown"`
	Nested    []string   `json:"nested"`
	Unnamed   []string   `json:"unnamed"`
	Busy      []string   `json:"busy"`
	Blocked   []string   `json:"blocked"`
	Damaged   []string   `json:"damaged"`
	// ChangedSince and Untouched are set for an undo or redo only.
	ChangedSince []string `json:"changed_since,omitempty"`
	Untouched    []string `json:"untouched,omitempty"`
}

// StepJSON is the JSON of a step of a plan.
type StepJSON struct {
	Path string `json:"path"`
	// Bytes is the path if it isn't valid UTF-8; Path is then an approximation.
	Bytes []byte `json:"path_bytes,omitempty"`
	Kind  string `json:"kind"`
}

// NewPlanJSON returns the JSON of a plan.
func NewPlanJSON(p restore.Plan, target bands.Snapshot) PlanJSON {
	steps := []StepJSON{}
	for step := range p.Steps() {
		steps = append(steps, StepJSON{Path: step.Path, Bytes: PathBytes(step.Path), Kind: step.Kind.String()})
	}
	return PlanJSON{
		Version: target.Version.String(), Message: target.Message, CreatedAt: UTC(target.Created), Changes: steps,
		Kept: NotNil(p.Kept), Unknown: NotNil(p.Unknown), Nested: NotNil(p.Nested), Unnamed: NotNil(p.Unnamed),
		Busy: NotNil(p.Busy), Blocked: NotNil(p.Blocked), Damaged: NotNil(p.Damaged),
		ChangedSince: p.ChangedSince, Untouched: p.Untouched,
	}
}

// StepLine returns a line with the kind of a step of a plan and its path.
func StepLine(s ui.Streams, kind restore.StepKind, path string) string {
	style := ui.Yellow
	switch kind {
	case restore.StepDelete:
		style = ui.Red
	case restore.StepCreate:
		style = ui.Green
	case restore.StepRewrite, restore.StepReplace, restore.StepAttributes:
	}
	const width = len("Attributes:")
	return s.Paint(style, fmt.Sprintf("%-*s", width, Capitalize(kind.String())+":")) + " " + Path(path)
}

// Progress passes the progress of a snapshot, a restore or an export to reach.
func Progress(reach func(stage string, at ui.Amount)) func(bands.Progress) {
	return func(p bands.Progress) {
		reach(RestoreStage(p.Stage), ui.Amount{Done: p.Done, Total: p.Total, Bytes: p.Bytes, Size: p.Size})
	}
}

// ProgressOnly is like Progress for an operation with a single stage.
func ProgressOnly(reach func(stage string, at ui.Amount)) func(bands.Progress) {
	return Progress(func(_ string, at ui.Amount) { reach("", at) })
}

// RestoreStage returns the name of a stage of a restore, "" for the restore itself.
func RestoreStage(stage string) string {
	switch stage {
	case "capture":
		return "saving the current tree"
	case "restore":
		return ""
	}
	return stage
}

// AutoFailures describes the failed attempts of an automatic checkpoint in a store since the last
// that succeeded, or the error of reading them; empty if there are none.
func AutoFailures(store *bands.Store, now time.Time) string {
	failed, err := store.AutoFailures()
	switch {
	case err != nil:
		return err.Error()
	case failed.Count == 0:
		return ""
	}
	return fmt.Sprintf("%s of an automatic checkpoint failed since %s, the last %s: %s", ui.Plural(failed.Count, "attempt"),
		ui.Since(now, failed.First), ui.Ago(now, failed.Last), ui.Line(failed.Error, LineWidth*2))
}
