package health

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/forget"
	"github.com/seed-3aff656d/entire/strategy/sharing"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

type forgetOptions struct {
	text, textFile, session, checkpoint, file, before string

	listed, force, json, transcript bool
	// push is the name of a remote, pushes reports whether --push was given.
	push   string
	pushes bool
}

// pushConfigured is the value of --push without a name.
const pushConfigured = "-"

// NewForget returns the command that removes recorded content.
func NewForget(a *app.App) *cobra.Command {
	var opts forgetOptions
	cmd := &cobra.Command{
		Use:        "forget",
		SuggestFor: []string{"delete", "purge", "erase"},
		Short:      "Remove recorded content",
		Long: `Removes a session, a checkpoint, a text, a file, or everything before a date from
what was recorded in this repository: checkpoints and their whole history, shadow
branches, saved contexts, session states, kept transcripts and logs. It lists every
place and asks first. What was forgotten is not recorded again, and merging a copy
that still has it doesn't bring it back.

A session or checkpoint stays listed, as forgotten. A text is replaced by REDACTED,
also where it is escaped for JSON, percent- or base64-encoded; to keep it out of the
shell's history, read it from standard input (--text -) or from a file.

--file removes a file from all snapshots, shadow branches and saved contexts, and
keeps it out of later ones. In conversations it masks what tools read from and wrote
to the file, and lines of 12 characters or more that only this file had. Your own
commits with the file are listed.

The branch entire/checkpoints/v1 gets a new history. --push replaces the remote's
with it; without --push the remote keeps the old one, and nothing more is sent to
it. The remote keeps the old objects, which anyone who knows their ids can read, until
git gc removes them there. Other clones remove the same content at their next push or
fetch: the branch lists ids, paths and salted hashes of texts. --listed forgets those
texts everywhere else in such a clone.

It doesn't reach forks, backups, what a host keeps of replaced branches, or your own
commits and files. The agent's own transcripts are changed only with
--agent-transcript.

EXIT STATUS
  0    done, nothing to do, or only listed
  1    failure, or something recorded is left
  2    wrong usage
  130  interrupted`,
		Example: `  entire forget --session 3f2a9c1e
  entire forget --text - <secret.txt
  entire forget --before 2026-01-01 --force --push origin`,
		Args: cobra.MaximumNArgs(1), // the remote of --push
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0 && opts.push == pushConfigured:
				opts.push = args[0]
			case len(args) > 0:
				return app.Usagef("unexpected argument %q", args[0])
			}
			opts.pushes = cmd.Flags().Changed("push")
			for _, name := range forgetFlags() {
				if flag := cmd.Flags().Lookup(name); flag.Changed && flag.Value.String() == "" { // an empty variable
					return app.Usagef("--%s needs a value", name)
				}
			}
			return runForget(cmd.Context(), a, opts)
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.text, "text", "", "forget a text; - reads it from standard input")
	f.StringVar(&opts.textFile, "text-file", "", "forget the text in a file")
	f.StringVar(&opts.session, "session", "", "forget the session with this id, or prefix of one")
	f.StringVar(&opts.checkpoint, "checkpoint", "", "forget the checkpoint with this id, or prefix of one")
	f.StringVar(&opts.file, "file", "", "forget a file in snapshots, shadow branches, saved contexts and conversations")
	f.BoolVar(&opts.listed, "listed", false, "forget the texts that other clones have forgotten")
	f.StringVar(&opts.before, "before", "", "forget checkpoints, saved contexts and snapshots before a date (2026-01-31)")
	f.BoolVar(&opts.transcript, "agent-transcript", false, "also change the agent's own transcripts; those of active sessions only with --force")
	f.BoolVarP(&opts.force, "force", "f", false, "don't ask")
	setup.JSONFlag(f, &opts.json)
	f.StringVar(&opts.push, "push", "", "replace the checkpoints of a remote (default: push_remote)")
	f.Lookup("push").NoOptDefVal = pushConfigured
	setup.Flag(cmd, "session", setup.FlagValue(a, setup.Sessions))
	setup.Flag(cmd, "checkpoint", setup.FlagValue(a, setup.Checkpoints))
	cmd.MarkFlagsOneRequired(append(forgetFlags(), "push")...)
	cmd.MarkFlagsMutuallyExclusive(forgetFlags()...)
	return cmd
}

// forgetFlags returns the flags that select the content to forget.
func forgetFlags() []string {
	return []string{"text", "text-file", "session", "checkpoint", "file", "before", "listed"}
}

func runForget(ctx context.Context, a *app.App, opts forgetOptions) (err error) {
	if opts.transcript && opts.text+opts.textFile+opts.session+opts.file == "" && !opts.listed {
		return app.Usagef("--agent-transcript needs --text, --file, --session or --listed")
	}
	repo, err := a.Worktree()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	w := a.Workspace(repo)
	remote := "" // the remote whose checkpoints are replaced
	switch {
	case !opts.pushes:
	case opts.push != pushConfigured && opts.push != "":
		remote = opts.push
		w.Options.PushRemote, w.Options.OwnRemote = remote, true // named by the user
	case w.Options.PushRemote != "":
		remote = w.Options.PushRemote
	default:
		return app.Usagef("--push needs a remote, since push_remote isn't set: --push origin")
	}
	var what forget.What
	switch {
	case opts.text != "" || opts.textFile != "":
		what.Text, err = textToForget(ctx, a, opts)
	case opts.session != "":
		what.Session, err = sessionToForget(ctx, w, opts.session)
	case opts.listed:
		what.Listed = true
	case opts.checkpoint != "":
		what.Checkpoint, err = checkpointToForget(ctx, w, opts.checkpoint)
	case opts.file != "":
		what.File, err = fileToForget(a, repo, opts.file)
	case opts.before != "":
		if what.Before, err = time.ParseInLocation(time.DateOnly, opts.before, time.Local); err != nil {
			what.Before, err = time.ParseInLocation(time.RFC3339, opts.before, time.Local)
		}
		if err != nil {
			return app.Usagef("--before: %q is not a date such as 2026-01-31", opts.before)
		}
	}
	if err != nil {
		return err
	}
	if reflect.DeepEqual(what, forget.What{}) { // --push alone
		return pushForgotten(ctx, a, opts, w, remote)
	}
	what.AgentTranscript, what.ActiveToo, what.Remote = opts.transcript, opts.force, remote
	return runForgetJob(ctx, a, opts, forgetJob{w: w, what: what, remote: remote})
}

// forgetJob holds the arguments of one run of the command.
type forgetJob struct {
	w      *workspace.Workspace
	what   forget.What
	remote string // empty: nothing is pushed
}

func runForgetJob(ctx context.Context, a *app.App, opts forgetOptions, job forgetJob) (err error) {
	defer func() {
		partial, failed := job.w.Repo.IsPartial()
		if failed == nil && partial && errors.Is(err, git.ErrMissing) {
			err = app.WithHint(fmt.Errorf("this partial clone lacks contents of checkpoints: %w", err), "run `git fetch --refetch --no-filter`, then the same command again")
		}
	}()
	var f *forget.Forgetting
	var places []forget.Place
	var reach forget.Progress // of the current stage
	err = a.Streams.Stages("Searching", func(searched func(stage string, done, total int64)) (err error) {
		reach = searched
		f, err = forget.New(ctx, job.w, job.what, func(stage string, done, total int64) { reach(stage, done, total) })
		if err == nil {
			places, err = f.Find(ctx)
		}
		return err
	})
	if err != nil {
		return err
	}
	interrupted := forget.IsInterrupted(job.w.Repo.CommonDir)
	if !opts.json && len(places) > 0 {
		a.PageText(func(w ui.Streams) {
			found := 0
			for _, p := range places {
				if p.Kind != forget.Unknown {
					found++
				}
			}
			w.Printf("Found in %s:\n", ui.Plural(found, "place"))
			printPlaces(w, places)
		})
	}
	unknown := opts.force && job.remote != "" // what the remote has that is not here
	if sure, err := sureToForget(ctx, a, opts, places, interrupted || unknown); err != nil || !sure {
		return errors.Join(err, printForgotten(a, opts, places, nil, false))
	}
	var done forget.Result
	err = a.Streams.Stages("Forgetting", func(cleaned func(stage string, done, total int64)) (err error) {
		reach = cleaned
		done, err = f.Do(ctx)
		return err
	})
	if err != nil {
		return app.WithHint(err, "run the same command again to continue")
	}
	if job.remote != "" {
		if err := pushForgotten(ctx, a, opts, job.w, job.remote); err != nil {
			return err
		}
		if err := forgetAgain(ctx, f, &done); err != nil {
			return app.WithHint(err, "run the same command again to continue")
		}
	}
	if opts.json {
		return printForgotten(a, opts, done.Done, done.Left, true)
	}
	a.Streams.Printf("%s Removed from %s\n", a.Streams.Paint(ui.Green, "✓"), ui.Plural(len(done.Done), "place"))
	if len(done.Left) > 0 {
		a.Streams.Printf("\nNot changed by this command:\n")
		printPlaces(a.Streams, done.Left)
	}
	if job.remote == "" && slices.ContainsFunc(done.Done, isCheckpoints) {
		a.Streams.Hint("a remote keeps the old checkpoints until `entire forget --push REMOTE`")
	}
	if len(done.Done) > 0 {
		kept := "pages that `entire report` wrote are not changed"
		if slices.ContainsFunc(done.Left, isTranscript) {
			kept = "pages that `entire report` wrote, and the agent's own transcripts, are not changed"
		}
		a.Streams.Hint(kept)
	}
	return nil
}

// isCheckpoints reports whether a place is a history of checkpoints.
func isCheckpoints(p forget.Place) bool {
	return p.Kind == forget.Branch || strings.HasPrefix(p.Name, checkpoint.CheckpointRefs)
}

// isTranscript reports whether a place is an agent's own transcript that is not changed.
func isTranscript(p forget.Place) bool {
	return p.Kind == forget.File && p.Stays && strings.Contains(p.What, "transcript")
}

// forgetAgain forgets what came with the checkpoints of a remote.
func forgetAgain(ctx context.Context, f *forget.Forgetting, done *forget.Result) error {
	left, err := f.Find(ctx)
	if err != nil || !slices.ContainsFunc(left, func(p forget.Place) bool { return !p.Stays }) {
		return err
	}
	again, err := f.Do(ctx)
	done.Done, done.Left = append(done.Done, again.Done...), again.Left
	return err
}

// sureToForget asks for confirmation unless --force is given. If it can't ask, the command ends
// after the preview. more reports that there is more to do than to change the places.
func sureToForget(ctx context.Context, a *app.App, opts forgetOptions, places []forget.Place, more bool) (bool, error) {
	changed := slices.DeleteFunc(slices.Clone(places), func(p forget.Place) bool { return p.Stays })
	switch {
	case len(changed) == 0 && !more:
		if !opts.json {
			a.Streams.Printf("Nothing to forget.\n")
		}
		return false, nil
	case opts.force:
		return true, nil
	case opts.json || !a.Prompter.Interactive():
		if !opts.json {
			a.Streams.Printf("\nRun with --force to forget it.\n")
		}
		return false, nil
	}
	question := ui.Question{Title: "Remove it from all of these places?", Help: "This can't be undone.", Flag: "--force"}
	if slices.ContainsFunc(changed, isCheckpoints) {
		question.Help += " The checkpoints get a new history."
	}
	answers, err := a.Prompter.Ask(ctx, question)
	if err != nil || answers[0] == ui.Yes {
		return err == nil, err
	}
	a.Streams.Printf("Nothing was forgotten.\n")
	return false, nil
}

// maxForgottenText limits the length of the text to forget.
const maxForgottenText = 64 << 10

func textToForget(ctx context.Context, a *app.App, opts forgetOptions) (string, error) {
	text := opts.text
	var from io.Reader
	switch {
	case opts.textFile != "":
		file, err := os.Open(opts.textFile)
		if err != nil {
			return "", err
		}
		defer func() { _ = file.Close() }() // only read
		from = file
	case text == "-":
		from = a.Input(ctx)
	default:
		a.Streams.Hint("the text is in your shell's history now; --text - reads it from standard input")
	}
	if from != nil {
		data, err := io.ReadAll(io.LimitReader(from, maxForgottenText+1))
		if err != nil {
			return "", err
		}
		text = strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	}
	if len(text) > maxForgottenText {
		return "", app.Usagef("the text is longer than %d bytes", maxForgottenText)
	}
	if err := forget.CheckText(text); err != nil {
		return "", app.Usagef("%s", err)
	}
	return text, ctx.Err()
}

// sessionToForget finds the session whose id begins with spec, among the states, the checkpoints
// and the forgotten sessions.
func sessionToForget(ctx context.Context, w *workspace.Workspace, spec string) (string, error) {
	if err := session.CheckID(spec); err != nil {
		return "", app.Usagef("--session: %s", err)
	}
	ids := map[string]bool{}
	states, _ := w.Sessions.All()
	for _, s := range states {
		ids[s.ID] = true
	}
	records, err := w.Records(ctx)
	if err != nil {
		return "", err
	}
	located, err := records.List(ctx)
	if err != nil {
		return "", err
	}
	found, err := checkpoint.Inspect(ctx, w.Repo, located, nil)
	if err != nil {
		return "", err
	}
	for _, c := range found {
		for _, id := range c.Sessions {
			ids[id] = true
		}
	}
	for _, tree := range records.Trees() {
		listed, err := checkpoint.ForgottenIn(ctx, w.Repo, tree)
		if err != nil {
			return "", err
		}
		for _, id := range listed.Sessions {
			ids[id] = true
		}
	}
	t, err := checkpoint.LoadTombstones(w.Repo.CommonDir)
	if err != nil {
		return "", err
	}
	for _, id := range t.Sessions {
		ids[id] = true
	}
	var matches []string
	for id := range ids {
		if id == spec {
			return id, nil
		}
		if strings.HasPrefix(id, spec) {
			matches = append(matches, id)
		}
	}
	switch len(matches) {
	case 1:
		return matches[0], nil
	case 0:
		return "", app.WithHint(fmt.Errorf("no session id starts with %q", spec), "`entire log --sessions` lists them")
	default:
		return "", fmt.Errorf("%q is ambiguous: it matches %d sessions", spec, len(matches))
	}
}

// checkpointToForget finds the checkpoint whose id begins with spec.
func checkpointToForget(ctx context.Context, w *workspace.Workspace, spec string) (checkpoint.ID, error) {
	records, err := w.Records(ctx)
	if err != nil {
		return "", err
	}
	var ids []checkpoint.ID
	if prefix, ok := checkpoint.Prefix(spec); ok {
		if ids, err = records.Find(ctx, prefix); err != nil {
			return "", err
		}
	}
	switch len(ids) {
	case 1:
		return ids[0], nil
	case 0:
		return "", app.WithHint(fmt.Errorf("no checkpoint id starts with %q", spec), "`entire log --commits` lists them")
	default:
		return "", fmt.Errorf("%q is ambiguous: it matches %d checkpoints", spec, len(ids))
	}
}

// pushForgotten replaces a remote's checkpoints.
func pushForgotten(ctx context.Context, a *app.App, opts forgetOptions, w *workspace.Workspace, remote string) error {
	err := a.WithTransferProgress(w.Repo, "Pushing", func() error { return sharing.PushForgotten(ctx, w, remote) })
	if err != nil {
		return app.WithHint(err, "it was removed here; `entire forget --push "+git.HideURL(remote)+"` tries to push again")
	}
	if !opts.json {
		shown := git.HideURL(remote)
		a.Streams.Printf("%s Replaced the checkpoints of %s\n", a.Streams.Paint(ui.Green, "✓"), shown)
		a.Streams.Hint(shown + " keeps the old objects until its git gc removes them; ask its host to run `git gc --prune=now`")
	}
	return nil
}
