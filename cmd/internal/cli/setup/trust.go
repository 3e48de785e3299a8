package setup

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/strategy/sharing"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

type trustOptions struct{ all, revoke, list, json bool }

// NewTrust returns the command that allows sending checkpoints to a remote.
func NewTrust(a *app.App) *cobra.Command {
	var opts trustOptions
	cmd := &cobra.Command{
		Use:   "trust [REMOTE]",
		Short: "Allow sending checkpoints to a remote",
		Long: `Allows sending checkpoints to a remote: a name or a URL, by default the one that the
settings here name or the project proposes, else origin. It is stored in your own
settings by host and path, and applies to all clones.

It sends nothing itself: each git push sends checkpoints to the remote in
strategy_options.push_remote. If your user settings or the project's proposal name
that remote, it has to be allowed here; setting it in a repository allows it there.

--list shows what is allowed. --revoke withdraws it; what was already sent stays on
the remote.

EXIT STATUS
  0  done, or nothing to do
  1  failure, or no such remote
  2  wrong usage`,
		Example: `  entire trust
  entire trust git@github.com:acme/widgets.git
  entire trust --revoke origin
  entire trust --list`,
		Args:              cobra.MaximumNArgs(1),
		Annotations:       map[string]string{app.WorksDisabled: "yes"},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case opts.list && (opts.all || opts.revoke || len(args) > 0):
				return app.Usagef("--list can't be combined with other flags or a remote")
			case opts.all && len(args) > 0:
				return app.Usagef("--all takes no remote")
			}
			return runTrust(cmd.Context(), a, opts, strings.Join(args, ""))
		},
	}
	f := cmd.Flags()
	f.BoolVar(&opts.all, "all", false, "allow all remotes of all repositories; with --revoke: none")
	f.BoolVar(&opts.revoke, "revoke", false, "no longer allow it")
	f.BoolVar(&opts.list, "list", false, "show what is allowed")
	JSONFlag(f, &opts.json)
	return cmd
}

// trusting is one run of trust. w is nil outside of a repository.
type trusting struct {
	*app.App

	opts trustOptions
	from settings.Sources
	file string
	w    *workspace.Workspace
}

func runTrust(ctx context.Context, a *app.App, opts trustOptions, remote string) error {
	t := &trusting{App: a, opts: opts, from: a.SettingsSources(nil)}
	if t.file = settings.UserFile(t.from); t.file == "" {
		return errNoHome()
	}
	if repo := here(a); repo != nil {
		defer func() { _ = repo.Close() }()
		if repo.Root != "" {
			t.w = a.Workspace(repo)
		}
	}
	show := func() error { return t.show(ctx, settings.Load(t.from).Global) }
	if opts.list {
		return show()
	}
	return withResult(a, opts.json, func() error { return t.change(ctx, remote) }, show)
}

// change allows or withdraws what the flags say.
func (t *trusting) change(ctx context.Context, remote string) error {
	g, opts := settings.Load(t.from).Global, t.opts
	switch {
	case opts.all && opts.revoke:
		return t.write("No remote is allowed any more, except where a repository's own settings name one", settings.Change{Key: settings.KeyTrustAll},
			settings.Change{Key: settings.KeyTrustedOrigins}, settings.Change{Key: settings.KeyTrustedPaths})
	case opts.all:
		return t.write("Checkpoints may be sent to every configured remote", settings.Change{Key: settings.KeyTrustAll, Value: true})
	}
	d, err := t.destination(ctx, remote)
	if err != nil {
		return err
	}
	if opts.revoke {
		return t.revoke(g, d)
	}
	return t.allow(g, d)
}

// destination is a remote and the form in which it is written to the settings: the keys of its URLs or, if
// one has none, the roots of the repository's worktrees.
type destination struct {
	sharing.Destination

	keys, roots []string
	// isCurrent reports that it is the remote to which pushes here would send.
	isCurrent bool
}

// destination finds the remote that is named, else the one to which pushes would send, else origin.
func (t *trusting) destination(ctx context.Context, remote string) (d destination, err error) {
	noRemote := app.WithHint(errors.New("no remote to allow"), "name one: entire trust https://host/path")
	if t.w == nil {
		key := settings.OriginKey(remote, "")
		switch {
		case remote == "":
			return d, noRemote
		case key == "":
			return d, app.WithHint(errors.New("not in a repository, and not a URL: "+ui.Line(git.HideURL(remote), 80)), "name a URL")
		}
		d.Remote, d.keys = remote, []string{key}
		return d, nil
	}
	current, err := sharing.FindDestination(ctx, t.w)
	if err != nil {
		return d, err
	}
	if d.Destination = current; remote != "" && remote != current.Remote || current.Remote == "" {
		d.Destination = sharing.Destination{Remote: remote}
		if remote == "" {
			d.Remote = "origin"
		}
		if d.Place, err = git.FindPushDestination(ctx, t.w.Repo, d.Remote); err != nil {
			return d, err
		}
	}
	if d.keys = sharing.Keys(t.w, d.Place); !d.Place.Configured && !settings.IsRemoteURL(d.Place.URL) {
		d.keys = nil
		if key := settings.OriginKey(d.Remote, ""); key != "" && strings.Contains(d.Remote, "/") {
			d.keys = []string{key}
		}
	}
	d.isCurrent = d.Remote == current.Remote || current.Remote != "" && d.Place.URL == current.Place.URL
	for _, root := range []string{t.w.Repo.MainRoot(), t.w.Repo.Root} {
		if root != "" && !slices.Contains(d.roots, root) {
			d.roots = append(d.roots, root)
		}
	}
	switch {
	case len(d.keys) == 0 && !d.Place.Configured && remote == "":
		return d, noRemote
	case len(d.keys) == 0 && !d.Place.Configured:
		return d, app.WithHint(errors.New("no such remote: "+ui.Line(git.HideURL(remote), 80)), "`git remote -v` lists them")
	}
	return d, nil
}

func (t *trusting) allow(g settings.Global, d destination) error {
	var change settings.Change
	text := "Checkpoints may be sent to " + strings.Join(d.keys, " and ") + ", from every clone"
	if len(d.keys) > 0 {
		list := slices.Clone(g.TrustedOrigins)
		for _, key := range d.keys {
			if !slices.Contains(list, key) {
				list = append(list, key)
			}
		}
		change = settings.Change{Key: settings.KeyTrustedOrigins, Value: list}
	} else { // its URL is of a kind that can't be compared
		list := slices.Clone(g.TrustedPaths)
		if root := d.roots[0]; !slices.Contains(list, root) {
			list = append(list, root)
		}
		change = settings.Change{Key: settings.KeyTrustedPaths, Value: list}
		text = "Checkpoints may be sent to the remotes of " + d.roots[0]
	}
	if err := t.write(text, change); err != nil {
		return err
	}
	switch {
	case t.w == nil:
	case d.isCurrent:
		t.Streams.Printf("Each git push here sends them to %s\n", git.HideURL(d.Remote))
	default:
		t.Streams.Notef("Nothing is sent yet: push_remote doesn't name %s here.", git.HideURL(d.Remote))
		t.Streams.Hint("run `entire config push_remote " + git.HideURL(d.Remote) + "`, in all repositories with --user")
	}
	return nil
}

func (t *trusting) revoke(g settings.Global, d destination) error {
	isOf := func(entry string) bool {
		return slices.ContainsFunc(d.keys, func(key string) bool { return entry == key || settings.OriginKey(entry, "") == key })
	}
	origins := slices.DeleteFunc(slices.Clone(g.TrustedOrigins), isOf)
	paths := slices.DeleteFunc(slices.Clone(g.TrustedPaths), func(entry string) bool {
		return settings.IsListed([]string{entry}, d.roots, t.Home)
	})
	name := strings.Join(d.keys, " and ")
	if name == "" {
		name = "the remotes of " + d.roots[0]
	}
	if len(origins) == len(g.TrustedOrigins) && len(paths) == len(g.TrustedPaths) {
		t.Streams.Printf("Nothing to do: sending to %s was not allowed\n", name)
	} else if err := t.write("Checkpoints may no longer be sent to "+name,
		settings.Change{Key: settings.KeyTrustedOrigins, Value: origins}, settings.Change{Key: settings.KeyTrustedPaths, Value: paths}); err != nil {
		return err
	}
	if g.TrustAll {
		t.Streams.Notef("Every remote is still allowed.")
		t.Streams.Hint("run `entire config trust --revoke --all`")
	}
	if t.w != nil && d.isCurrent && !d.IsProposed && !t.w.Options.NeedsConsent {
		t.Streams.Notef("This repository still sends to %s, because its own settings name it.", git.HideURL(d.Remote))
		t.Streams.Hint("run `entire config unset push_remote`")
	}
	return nil
}

// write changes the user's settings. Lists that are empty, and were absent, stay so.
func (t *trusting) write(text string, changes ...settings.Change) error {
	for i, c := range changes {
		if list, ok := c.Value.([]string); ok && len(list) == 0 {
			changes[i].Value = nil
		}
	}
	if _, err := settings.Configure(t.from, changes...); err != nil {
		return err
	}
	t.Streams.Printf("%s %s (%s)\n", t.Streams.Paint(ui.Green, "✓"), text, t.ShortPath(t.file))
	return nil
}

// trustReport is the output of `trust --list --json`; docs/formats/sharing.md describes it.
type trustReport struct {
	All     bool         `json:"trust_all"`
	Origins []string     `json:"trusted_origins"`
	Paths   []string     `json:"trusted_paths"`
	Here    *SendingJSON `json:"here,omitempty"`
}

// SendingJSON is the remote to which pushes in a repository would send checkpoints.
type SendingJSON struct {
	Remote   string   `json:"remote"`
	Keys     []string `json:"keys"`
	Proposed bool     `json:"proposed"`
	Allowed  bool     `json:"allowed"`
}

// Sending returns the remote to which pushes would send checkpoints, nil if the settings name none.
func Sending(ctx context.Context, w *workspace.Workspace) (*SendingJSON, error) {
	d, err := sharing.FindDestination(ctx, w)
	if err != nil || d.Remote == "" {
		return nil, err
	}
	keys := sharing.Keys(w, d.Place)
	if keys == nil {
		keys = []string{}
	}
	return &SendingJSON{Remote: git.HideURL(d.Remote), Keys: keys, Proposed: d.IsProposed, Allowed: d.Allowed}, nil
}

func (t *trusting) show(ctx context.Context, g settings.Global) (err error) {
	r := trustReport{All: g.TrustAll, Origins: append([]string{}, g.TrustedOrigins...), Paths: append([]string{}, g.TrustedPaths...)}
	if t.w != nil {
		if r.Here, err = Sending(ctx, t.w); err != nil {
			return err
		}
	}
	if t.opts.json {
		return t.Streams.JSON(r)
	}
	if r.All {
		t.Streams.Printf("every configured remote\n")
	}
	for _, entry := range slices.Concat(r.Origins, r.Paths) {
		t.Streams.Printf("%s\n", entry)
	}
	if !g.TrustsAny() {
		t.Streams.Printf("No remote is allowed.\n")
	}
	switch h := r.Here; {
	case h == nil:
	case h.Allowed:
		t.Streams.Notef("Each git push here sends checkpoints to %s.", h.Remote)
	default:
		t.Streams.Notef("Nothing is sent to %s until you allow it.", h.Remote)
		t.Streams.Hint("run `entire config trust`")
	}
	return nil
}
