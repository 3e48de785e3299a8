package stores

import (
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
)

// foundJSON is the output of `bisect run --json`; docs/formats/bisect.md describes it.
type foundJSON struct {
	Good     string                `json:"good"`
	Bad      string                `json:"bad"`
	Skipped  []string              `json:"skipped"`
	Unsteady []string              `json:"unsteady"`
	Snapshot format.CheckpointJSON `json:"snapshot"`
	Turn     *turnJSON             `json:"turn,omitempty"`
	Changed  []format.DiffJSON     `json:"changed"`
	Look     []string              `json:"look"`
	Back     string                `json:"back"`
	Runs     []runJSON             `json:"runs"`
}

// turnJSON is the turn that made the first bad snapshot.
type turnJSON struct {
	Session string     `json:"session"`
	Agent   string     `json:"agent,omitempty"`
	Prompt  string     `json:"prompt,omitempty"`
	At      *time.Time `json:"at,omitempty"`
	Calls   []callJSON `json:"calls"`
}

type callJSON struct {
	Tool string `json:"tool"`
	Text string `json:"text"`
}

// logJSON is the output of `bisect log --json`.
type logJSON struct {
	Command  []string   `json:"command"`
	Paths    []string   `json:"paths"`
	Keep     bool       `json:"keep"`
	Repeat   bool       `json:"repeat"`
	Versions []string   `json:"versions"`
	Runs     []runJSON  `json:"runs"`
	Began    time.Time  `json:"began_at"`
	Ended    *time.Time `json:"ended_at,omitempty"`
}

// resetJSON is the output of `bisect reset --json`.
type resetJSON struct {
	Removed bool `json:"removed"`
}

type runJSON struct {
	Version string     `json:"version"`
	Result  string     `json:"result"`
	Exit    int        `json:"exit"`
	Note    string     `json:"note,omitempty"`
	Millis  int64      `json:"duration_ms"`
	Setup   int64      `json:"setup_ms"`
	At      *time.Time `json:"at,omitempty"`
}

func newRunsJSON(runs []diff.BisectRun) []runJSON {
	list := make([]runJSON, 0, len(runs))
	for _, r := range runs {
		one := runJSON{Version: r.Version.String(), Result: string(r.Result), Exit: r.Exit, Note: r.Note, Millis: r.Millis, Setup: r.Setup}
		if !r.At.IsZero() { // zero for a run from a log
			at := format.UTC(r.At)
			one.At = &at
		}
		list = append(list, one)
	}
	return list
}

// names returns the names of versions.
func names(versions []bands.Version) []string {
	list := make([]string, len(versions))
	for i, v := range versions {
		list[i] = v.String()
	}
	return list
}
