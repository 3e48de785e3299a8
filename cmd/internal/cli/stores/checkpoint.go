package stores

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/session/agent"
)

// autoMessage is the message of a snapshot without a given one.
const autoMessage = "auto"

// fsCheckpointOptions holds the flags of `checkpoint` and `checkpoint create`.
type fsCheckpointOptions struct {
	auto                           bool
	agent, action, session, prompt string
	meta                           []string // key=value
}

func newFSCheckpointCmd(f *Command) *cobra.Command {
	var opts fsCheckpointOptions
	cmd := &cobra.Command{
		Use:        "checkpoint",
		SuggestFor: []string{"snapshot", "snapshots", "history"},
		Short:      "Create, list, show and delete checkpoints",
		Long: `Creates a checkpoint of the tree, as "checkpoint create" does, or lists, shows and
deletes checkpoints.

With --auto, for hooks, it prints nothing, and does nothing if there is no store, the
store is closed, or nothing has changed since the last checkpoint. With --action,
"checkpoint_on" and "min_interval" in config.toml decide, too.` + ExitStatus,
		Example: "  " + f.Program + ` checkpoint create "before risky refactor"` + "\n  " + f.Program + " checkpoint --auto",
		Args:    cobra.NoArgs,
		RunE: f.Run(func(ctx context.Context, _ []string) error {
			if opts.auto {
				return runFSAuto(ctx, f, opts)
			}
			return runFSCreate(ctx, f, opts, autoMessage)
		}),
	}
	cmd.Flags().BoolVar(&opts.auto, "auto", false, "for hooks: print nothing, and only if something changed")
	causalityFlags(cmd, &opts)
	cmd.AddCommand(newFSCreateCmd(f), newFSCheckpointListCmd(f), newFSInfoCmd(f), newFSCheckpointDeleteCmd(f))
	return cmd
}

func causalityFlags(cmd *cobra.Command, opts *fsCheckpointOptions) {
	flags := cmd.Flags()
	flags.StringVar(&opts.agent, "agent", "", "the agent")
	flags.StringVar(&opts.action, "action", "", "its tool, such as Edit")
	flags.StringVar(&opts.session, "session", "", "the session id")
	flags.StringVar(&opts.prompt, "prompt", "", "the prompt")
	flags.StringArrayVar(&opts.meta, "meta", nil, "a `KEY=VALUE` to store with it; may be repeated")
}

func newFSCreateCmd(f *Command) *cobra.Command {
	var opts fsCheckpointOptions
	cmd := &cobra.Command{
		Use:     "create [message]",
		Short:   "Create a checkpoint",
		Long:    `Creates a checkpoint of the whole tree, even if nothing changed.` + ExitStatus,
		Example: "  " + f.Program + ` checkpoint create "before risky refactor"`,
		Args:    cobra.MaximumNArgs(1),
		RunE: f.Run(func(ctx context.Context, args []string) error {
			message := autoMessage
			if len(args) == 1 {
				message = args[0]
			}
			return runFSCreate(ctx, f, opts, message)
		}),
	}
	causalityFlags(cmd, &opts)
	return cmd
}

// createdJSON is the output of `checkpoint create --json`.
type createdJSON struct {
	format.CheckpointJSON

	Milliseconds int64    `json:"duration_ms"`
	LeftOut      []string `json:"left_out"`
	Moving       []string `json:"moving"`
	Unreadable   []string `json:"unreadable"`
}

func runFSCreate(ctx context.Context, f *Command, opts fsCheckpointOptions, message string) error {
	s, err := f.Mounted(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.RequireTree(); err != nil {
		return err
	}
	by, err := causalityOf(f, opts)
	if err != nil {
		return err
	}
	f.Say("Creating %s...", f.noun())
	began := f.Now()
	taken, err := s.Take(ctx, capture.TakeOptions{
		Options: s.Options, Message: message, Cause: bands.Named, Force: true,
		Causality: by,
	})
	if err != nil {
		return err
	}
	spent := f.Now().Sub(began)
	snapshot := taken.Snapshot
	if f.JSON {
		return f.PrintJSON(createdJSON{
			CheckpointJSON: format.NewCheckpointJSON(snapshot), Milliseconds: spent.Milliseconds(),
			LeftOut: format.NotNil(snapshot.LeftOut), Moving: format.NotNil(taken.Moving),
			Unreadable: format.NotNil(taken.Unreadable),
		})
	}
	f.Streams.Printf("Created %s%s (%s)\n", snapshot.Version, format.Quoted(snapshot.Message), format.Took(spent))
	if n := len(taken.Unheld()); n > 0 {
		f.Streams.Notef("%s left out:", ui.Plural(n, "path"))
	}
	notePaths(f, "no room in the store", snapshot.LeftOut)
	notePaths(f, "it kept changing", taken.Moving)
	notePaths(f, "it can't be read", taken.Unreadable)
	return nil
}

// causalityOf returns the values of the flags, completed from the environment of an agent's hook.
func causalityOf(f *Command, opts fsCheckpointOptions) (bands.Causality, error) {
	if callers := agent.Callers(f.Getenv); opts.auto && opts.session == "" && len(callers) > 0 {
		opts.session = agent.CallingSession(f.Getenv)
		if opts.agent == "" {
			opts.agent = callers[0].Name
		}
	}
	by := bands.Causality{Agent: opts.agent, Action: opts.action, Session: opts.session, Prompt: f.Redact(opts.prompt)}
	if len(opts.meta) == 0 {
		return by, nil
	}
	by.Metadata = make(map[string]string, len(opts.meta))
	for _, arg := range opts.meta { // the last value of a key counts
		key, value, ok := strings.Cut(arg, "=")
		if !ok {
			return by, app.Usagef("--meta %q: give key=value", arg)
		}
		// Redacted together, as the key may identify the value as a secret.
		redacted, ok := strings.CutPrefix(Redact(arg), key+"=")
		if !ok {
			redacted = Redact(value)
		}
		by.Metadata[key] = redacted
	}
	if err := bands.CheckMetadata(by.Metadata); err != nil {
		return by, app.Usagef("--meta: %v", err)
	}
	return by, nil
}

// notePaths prints notes on the first of some paths, and the number of the others.
func notePaths(f *Command, what string, paths []string) {
	const most = 10
	for i, path := range paths {
		if i == most {
			f.Streams.Notef("... and %d more", len(paths)-most)
			return
		}
		f.Streams.Notef("%s: %s", what, format.Path(path))
	}
}

// runFSAuto takes a snapshot for a hook. Without a store, or if it is closed, it does nothing. A
// failure is recorded in the store until an attempt succeeds: hooks discard the message.
func runFSAuto(ctx context.Context, f *Command, opts fsCheckpointOptions) error {
	f.Quiet = true
	s, err := f.Selected(ctx)
	if err != nil {
		if f.Store == "" && app.CodeOf(f.Explain(err)) == app.ExitNoStore || errors.Is(err, volume.ErrNotOpen) {
			return nil
		}
		return err
	}
	defer s.Close()
	if !s.Entry.Active() || s.CheckThere() != nil || s.RequireTree() != nil || s.IsVolume() && !VolumeIsOpen(s) {
		return nil
	}
	due, err := takeAuto(ctx, f, s, opts)
	if due && ctx.Err() == nil {
		failure := ""
		if err != nil {
			failure = Redact(err.Error())
		}
		err = errors.Join(err, s.RecordAuto(failure, s.Command.Now()))
	}
	if err != nil && app.CodeOf(f.Explain(err)) != app.ExitUsage {
		err = app.WithCode(app.ExitFailure, f.Explain(err))
	}
	return err
}

// takeAuto takes a snapshot unless config.toml forbids one for the action: then it isn't due.
func takeAuto(ctx context.Context, f *Command, s *Selection, opts fsCheckpointOptions) (due bool, err error) {
	if opts.action != "" {
		// A bad value in config.toml counts as absent; status reports it.
		config, _ := s.Registry.Config()
		if !slices.Contains(config.CheckpointOn, opts.action) {
			return false, nil
		}
		last, ok, err := s.Lineage(s.Options.Lineage).Latest()
		if err != nil {
			return true, err
		}
		if age := f.Now().Sub(last.Created); ok && age >= 0 && age < config.MinInterval {
			return false, nil
		}
	}
	by, err := causalityOf(f, opts)
	if err != nil {
		return false, err
	}
	_, err = s.Take(ctx, capture.TakeOptions{
		Options: s.Options, Message: autoMessage, Cause: bands.Auto, SkipUnchanged: true,
		Causality: by,
	})
	return true, err
}
