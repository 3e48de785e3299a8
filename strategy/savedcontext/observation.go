package savedcontext

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// effort bounds the bytes that are read of the transcript and of files; 0 means no bound.
// progress is called as the reading advances, unless it is nil.
type effort struct {
	transcript, files int64
	progress          func(bands.Progress)
}

func (e effort) reached(at bands.Progress) {
	if e.progress != nil {
		e.progress(at)
	}
}

// The efforts: of a stop, which delays every turn, of a session's end, and of a background
// process or explicit request.
func stopEffort() effort { return effort{transcript: 2 << 20, files: 128 << 10} }
func endEffort() effort  { return effort{transcript: 8 << 20, files: 512 << 10} }
func allEffort() effort  { return effort{} }

// observation is the state of HEAD and of the last read, which the context record does not keep.
type observation struct {
	head     git.Commit
	branch   string
	warnings []string
	// rest reports that the effort did not suffice to read everything.
	rest bool
}

// observe reads the new part of the transcript, and the session's changed files.
func (cr *contextReader) observe(ctx context.Context, how effort) error {
	m := cr.m
	var born bool
	var err error
	if cr.obs.head, born, err = cr.w.Head(ctx); err != nil {
		return fmt.Errorf("read HEAD: %w", err)
	}
	if cr.obs.branch, err = branchShown(ctx, cr.w); err != nil {
		return fmt.Errorf("read HEAD: %w", err)
	}
	if m.Worktree == "" { // seen for the first time
		m.Worktree = cr.w.Repo.Root
		if born {
			m.Base = cmp.Or(cr.s.AttributionBase, string(cr.obs.head.OID))
		}
	}
	if path := cr.s.TranscriptPath; path != "" {
		size := int64(0)
		if info, err := os.Stat(path); err == nil {
			size = info.Size()
		}
		piece := cmp.Or(how.transcript, 8<<20)
		for {
			if cr.obs.rest, err = m.Digest.Catch(ctx, path, cr.w.Redact, piece); err != nil {
				return fmt.Errorf("read transcript: %w", err)
			}
			if !cr.obs.rest || how.transcript != 0 {
				break
			}
			how.reached(bands.Progress{Stage: "transcript", Bytes: m.Digest.Cursor.Offset, Size: size})
		}
	}
	m.Asked = m.Asked || cr.s.TurnID != "" || m.Digest.Prompts > 0
	paths := cr.paths()
	if len(paths) > maxRemembered {
		cr.obs.warnings = append(cr.obs.warnings, fmt.Sprintf("%d more files are left out", len(paths)-maxRemembered))
		paths = paths[:maxRemembered]
	}
	capture := capturer(cr.w, m.Base, how.files)
	capture.Progress = func(done, total int) {
		how.reached(bands.Progress{Stage: "files", Done: int64(done), Total: int64(total)})
	}
	capture.Head = cr.obs.head.Tree
	capture.Unignored = make(map[string]bool, len(cr.s.FilesTouched))
	for _, p := range cr.s.FilesTouched {
		capture.Unignored[p] = cr.w.OwnsSession(cr.s)
	}
	taken, err := capture.Files(ctx, paths, m.Files)
	if err != nil {
		return err
	}
	m.Files = taken.Files
	cr.obs.rest = cr.obs.rest || taken.Unfinished
	for _, warning := range taken.Warnings {
		cr.obs.warnings = append(cr.obs.warnings, cr.w.Redact.Text(warning))
	}
	return nil
}

// paths returns the files that the session changed, the latest first.
func (cr *contextReader) paths() []string {
	known := make(map[string]bool, len(cr.m.Files))
	var paths []string
	add := func(list ...string) {
		for _, p := range list {
			if !known[p] && p != ".entire" && !strings.HasPrefix(p, ".entire/") {
				known[p] = true
				paths = append(paths, p)
			}
		}
	}
	if cr.w.OwnsSession(cr.s) {
		add(cr.s.FilesTouched...)
	}
	edited := slices.Clone(cr.m.Digest.Edited)
	slices.Reverse(edited)
	for _, p := range edited {
		if !isAltered(p) { // not the file's real name, which the state may have
			add(slices.Collect(maps.Keys(cr.w.RelativePaths([]string{p})))...)
		}
	}
	add(slices.Sorted(maps.Keys(cr.m.Files))...)
	return paths
}

// capturer returns the capture of files that the settings describe.
func capturer(w *workspace.Workspace, base string, work int64) contextstore.Capture {
	o := w.Options.Recall
	forgotten, _ := checkpoint.LoadTombstones(w.Repo.CommonDir) // callers have checked that it can be read
	return contextstore.Capture{
		Repo: w.Repo, Redact: w.Redact, Base: base,
		Limits: contextstore.CaptureLimits{
			File: o.MaxFile, Total: o.MaxCheckpoint, Exclude: o.Exclude, Forgotten: forgotten.FilePaths(), Work: work,
			Contents: o.CaptureFiles && recall.Mode(o.Mode) != recall.SummaryMode,
		},
	}
}
