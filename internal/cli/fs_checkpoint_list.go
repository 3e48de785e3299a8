package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/ui"
)

type fsCheckpointListOptions struct {
	limit int
	all   bool
}

func newFSCheckpointListCmd(f *fsApp) *cobra.Command {
	var opts fsCheckpointListOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List checkpoints, the newest first",
		Long: `Lists the checkpoints of this tree, the newest first. The worktrees of a
repository share a store: --all lists those of all of them.

With --json it prints a list; docs/formats/agentfs.md describes it.` + fsExitStatus,
		Args: cobra.NoArgs,
		RunE: f.run(func(ctx context.Context, _ []string) error { return runFSCheckpointList(ctx, f, opts) }),
	}
	cmd.Flags().IntVar(&opts.limit, "limit", 0, "list at most this many")
	cmd.Flags().BoolVar(&opts.all, "all", false, "list those of all worktrees")
	return cmd
}

// checkpointJSON is a snapshot in JSON. The first three keys are those that
// scripts of other tools of the kind read.
type checkpointJSON struct {
	Version   string    `json:"version"`
	Message   string    `json:"message"`
	CreatedAt time.Time `json:"created_at"`

	Cause   string     `json:"cause"`
	Parent  string     `json:"parent,omitempty"`
	Root    string     `json:"root"`
	Late    bool       `json:"late,omitempty"`
	Files   int64      `json:"files"`
	Dirs    int64      `json:"dirs"`
	Unknown int64      `json:"unknown"`
	Bytes   int64      `json:"bytes"`
	Added   int64      `json:"added_bytes"`
	Agent   string     `json:"agent,omitempty"`
	Session string     `json:"session_id,omitempty"`
	Action  string     `json:"action,omitempty"`
	Prompt  string     `json:"prompt,omitempty"`
	Commit  string     `json:"commit,omitempty"`
	Branch  string     `json:"branch,omitempty"`
	Pairs   []pairJSON `json:"pairs"`
}

type pairJSON struct {
	Checkpoint string `json:"checkpoint_id"`
	Commit     string `json:"commit"`
	Late       bool   `json:"late,omitempty"`
}

func newCheckpointJSON(s bands.Snapshot) checkpointJSON {
	pairs := make([]pairJSON, 0, len(s.Pairs))
	for _, p := range s.Pairs {
		pairs = append(pairs, pairJSON{Checkpoint: p.Checkpoint, Commit: p.Commit, Late: p.Late})
	}
	c := checkpointJSON{
		Version: s.Version.String(), Message: s.Message, CreatedAt: utc(s.Created),
		Cause: string(s.Cause), Root: s.Root, Late: s.Late,
		Files: s.Totals.Files, Dirs: s.Totals.Dirs, Unknown: s.Totals.Unknown, Bytes: s.Totals.Bytes, Added: s.Added,
		Agent: s.Causality.Agent, Session: s.Causality.Session, Action: s.Causality.Action, Prompt: s.Causality.Prompt,
		Commit: s.Causality.Commit, Branch: s.Causality.Branch, Pairs: pairs,
	}
	if s.Parent != 0 {
		c.Parent = s.Parent.String()
	}
	return c
}

func runFSCheckpointList(ctx context.Context, f *fsApp, opts fsCheckpointListOptions) error {
	if opts.limit < 0 {
		return usagef("--limit is at least 1")
	}
	s, err := f.selected(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	list, err := s.newest(opts)
	if err != nil && len(list) == 0 {
		return err
	}
	_, _ = s.known.Checkpoints(ctx, s.Store, 0) // which brings the rows of the catalog up to date
	if err != nil {
		f.Streams.Notef("%v", err)
		f.Streams.Hint("`" + f.program + " verify` names what is damaged")
	}
	if f.json {
		all := make([]checkpointJSON, 0, len(list))
		for _, snapshot := range list {
			all = append(all, newCheckpointJSON(snapshot))
		}
		return f.compact(all)
	}
	if len(list) == 0 {
		f.Streams.Notef("No checkpoints yet. Create one with `%s checkpoint create`.", f.program)
		return nil
	}
	f.Streams.Printf("%s", checkpointTable(list, opts.all, f.Now()))
	return nil
}

// newest are the snapshots wanted, the newest first. Those that can't be read
// are in the error.
func (s *selection) newest(opts fsCheckpointListOptions) ([]bands.Snapshot, error) {
	versions, err := s.Versions()
	if err != nil {
		return nil, err
	}
	var list []bands.Snapshot
	var bad []error
	for _, v := range slices.Backward(versions) {
		if opts.limit > 0 && len(list) == opts.limit {
			break
		}
		snapshot, err := s.Snapshot(v)
		switch {
		case errors.Is(err, bands.ErrNoSnapshot): // deleted meanwhile
		case err != nil:
			bad = append(bad, err)
		case opts.all || snapshot.Lineage == s.options.Lineage:
			list = append(list, snapshot)
		}
	}
	return list, errors.Join(bad...)
}

// checkpointTable shows commits only where a checkpoint stands for one, and
// worktrees only if asked.
func checkpointTable(list []bands.Snapshot, worktrees bool, now time.Time) string {
	paired := slices.ContainsFunc(list, func(s bands.Snapshot) bool { return len(s.Pairs) > 0 })
	var table fsTable
	row := func(version, message, created, commit, worktree string) {
		cells := []string{version, message, created}
		if paired {
			cells = append(cells, commit)
		}
		if worktrees {
			cells = append(cells, worktree)
		}
		table.row(cells...)
	}
	row("VERSION", "MESSAGE", "CREATED", "COMMIT", "WORKTREE")
	for _, s := range list {
		row(s.Version.String(), ui.Line(s.Message, messageWidth), ui.Ago(now, s.Created), pairText(s), showPath(filepath.Base(s.Root)))
	}
	return table.String()
}

// pairText names the commits that a snapshot stands for, and their checkpoints.
func pairText(s bands.Snapshot) string {
	texts := make([]string, 0, len(s.Pairs))
	for _, p := range s.Pairs {
		text := fmt.Sprintf("%.7s (%s)", p.Commit, p.Checkpoint)
		if p.Late {
			text += " late"
		}
		texts = append(texts, text)
	}
	return ui.Line(strings.Join(texts, ", "), messageWidth)
}
