package cli

import (
	"time"

	"github.com/seed-3aff656d/entire/bands"
)

// restoredJSON is what `restore --json` prints.
type restoredJSON struct {
	planJSON

	Rescue       string        `json:"rescue"`
	Verified     int           `json:"verified"`
	Failed       []failureJSON `json:"failed"`
	Unset        []failureJSON `json:"unset"`
	Milliseconds int64         `json:"duration_ms"`
}

type failureJSON struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

func newRestoredJSON(done bands.Restored, spent time.Duration) restoredJSON {
	return restoredJSON{
		planJSON: newPlanJSON(done.Plan, done.Target), Rescue: done.Rescue.Version.String(),
		Verified: done.Verified, Failed: failuresOf(done.Failed), Unset: failuresOf(done.Unset), Milliseconds: spent.Milliseconds(),
	}
}

func failuresOf(list []bands.Failure) []failureJSON {
	failed := make([]failureJSON, 0, len(list))
	for _, failure := range list {
		failed = append(failed, failureJSON{Path: failure.Path, Error: failure.Err.Error()})
	}
	return failed
}

// planJSON is what `restore --dry-run --json` prints.
type planJSON struct {
	Version   string     `json:"version"`
	Message   string     `json:"message"`
	CreatedAt time.Time  `json:"created_at"`
	Changes   []stepJSON `json:"changes"`
	Kept      []string   `json:"kept"`
	Unknown   []string   `json:"unknown"`
	Nested    []string   `json:"nested"`
	Unnamed   []string   `json:"unnamed"`
	Busy      []string   `json:"busy"`
	Blocked   []string   `json:"blocked"`
	Damaged   []string   `json:"damaged"`
	// ChangedSince and Untouched are of an undo or redo.
	ChangedSince []string `json:"changed_since,omitempty"`
	Untouched    []string `json:"untouched,omitempty"`
}

type stepJSON struct {
	Path string `json:"path"`
	// Bytes is the path where it isn't text, which Path then only resembles.
	Bytes []byte `json:"path_bytes,omitempty"`
	Kind  string `json:"kind"`
}

func newPlanJSON(p bands.Plan, target bands.Snapshot) planJSON {
	steps := []stepJSON{}
	for step := range p.Steps() {
		steps = append(steps, stepJSON{Path: step.Path, Bytes: pathBytes(step.Path), Kind: step.Kind.String()})
	}
	return planJSON{
		Version: target.Version.String(), Message: target.Message, CreatedAt: utc(target.Created), Changes: steps,
		Kept: notNil(p.Kept), Unknown: notNil(p.Unknown), Nested: notNil(p.Nested), Unnamed: notNil(p.Unnamed),
		Busy: notNil(p.Busy), Blocked: notNil(p.Blocked), Damaged: notNil(p.Damaged),
		ChangedSince: p.ChangedSince, Untouched: p.Untouched,
	}
}
