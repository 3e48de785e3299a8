package savedcontext

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/recall"
)

// effort is how much is read while somebody waits: bytes of the transcript and
// of files, 0 for no bound.
type effort struct{ transcript, files int64 }

// The efforts: a stop's, which is waited for after every turn, that of a
// session's end, and that of who has time.
func stopEffort() effort { return effort{transcript: 2 << 20, files: 128 << 10} }
func endEffort() effort  { return effort{transcript: 8 << 20, files: 512 << 10} }
func allEffort() effort  { return effort{} }

// sightOfContext is what there is to see beside the memory.
type sightOfContext struct {
	head     git.Commit
	branch   string
	warnings []string
	// rest says that there was more to read than there was time for.
	rest bool
}

// look reads what is new in the transcript and in the session's files.
func (w *recollection) look(ctx context.Context, how effort) error {
	r, m := w.r, w.m
	var born bool
	var err error
	if w.at.head, born, err = r.Head(ctx); err != nil {
		return fmt.Errorf("read HEAD: %w", err)
	}
	if w.at.branch, err = r.branchShown(ctx); err != nil {
		return fmt.Errorf("read HEAD: %w", err)
	}
	if m.Worktree == "" { // seen for the first time
		m.Worktree = r.Repo.Root
		if born {
			m.Base = w.firstBase()
		}
	}
	if w.s.TranscriptPath != "" {
		rest, err := m.Digest.Catch(ctx, w.s.TranscriptPath, r.Redact, how.transcript)
		if err != nil {
			return fmt.Errorf("read transcript: %w", err)
		}
		w.at.rest = rest
	}
	m.Asked = m.Asked || w.s.TurnID != "" || m.Digest.Prompts > 0
	return w.capture(ctx, how.files)
}

// firstBase is the commit at the session's start, as far as its state knows.
func (w *recollection) firstBase() string {
	if w.s.AttributionBase != "" {
		return w.s.AttributionBase
	}
	return string(w.at.head.OID)
}

// capture reads the session's files as far as they changed.
func (w *recollection) capture(ctx context.Context, work int64) error {
	paths := w.paths()
	if len(paths) > maxRemembered {
		w.at.warnings = append(w.at.warnings, fmt.Sprintf("%d more files are not in the checkpoint", len(paths)-maxRemembered))
		paths = paths[:maxRemembered]
	}
	capture := w.r.capturer(w.m.Base, work)
	capture.Head = w.at.head.Tree
	capture.Unignored = make(map[string]bool, len(w.s.FilesTouched))
	for _, p := range w.s.FilesTouched {
		capture.Unignored[p] = w.r.OwnsSession(w.s)
	}
	taken, err := capture.Files(ctx, paths, w.m.Files)
	if err != nil {
		return fmt.Errorf("capture files: %w", err)
	}
	w.m.Files = taken.Files
	w.at.rest = w.at.rest || taken.Unfinished
	for _, warning := range taken.Warnings {
		w.at.warnings = append(w.at.warnings, w.r.Redact.Text(warning))
	}
	return nil
}

// paths are the files that the session changed, those that it changed lately
// first.
func (w *recollection) paths() []string {
	known := make(map[string]bool, len(w.m.Files))
	var paths []string
	add := func(list ...string) {
		for _, p := range list {
			if !known[p] && p != ".entire" && !strings.HasPrefix(p, ".entire/") {
				known[p] = true
				paths = append(paths, p)
			}
		}
	}
	if w.r.OwnsSession(w.s) {
		add(w.s.FilesTouched...)
	}
	edited := slices.Clone(w.m.Digest.Edited)
	slices.Reverse(edited)
	for _, p := range edited {
		if !isAltered(p) { // that is no file's name: the state may know the file's own
			add(slices.Collect(maps.Keys(w.r.RelativePaths([]string{p})))...)
		}
	}
	add(slices.Sorted(maps.Keys(w.m.Files))...)
	return paths
}

// capturer captures files as the settings say.
func (r *Saver) capturer(base string, work int64) recall.Capture {
	o := r.Options.Recall
	return recall.Capture{
		Repo: r.Repo, Redact: r.Redact, Base: base,
		Limits: recall.Limits{
			File: o.MaxFile, Total: o.MaxCheckpoint, Exclude: o.Exclude, Work: work,
			Contents: o.CaptureFiles && recall.Mode(o.Mode) != recall.SummaryMode,
		},
	}
}
