package hookrun

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
)

const (
	// statuslineGuard is a variable that is set for the user's own status line, so that it doesn't run
	// ours again.
	statuslineGuard = "ENTIRE_STATUSLINE"
	// statuslineRead limits the wait for the agent's input, statuslineTimeout the user's own
	// command, and statuslineLimit its output.
	statuslineRead    = 2 * time.Second
	statuslineTimeout = 5 * time.Second
	statuslineLimit   = 64 << 10
)

// Statusline prints the status line. It ignores errors, as the agent would show them in the line.
func Statusline(ctx context.Context, a *app.App) {
	if a.Getenv(statuslineGuard) != "" {
		return
	}
	wait, cancel := context.WithTimeout(ctx, statuslineRead)
	line, raw, err := claude.ReadLine(wait, a.Streams.In)
	cancel()
	if err != nil && raw == nil {
		return
	}
	// The repositories that the line may be about: those of the session's project and of the
	// working directory.
	var repos []*git.Repo
	for _, dir := range []string{line.Workspace.Project, line.Dir, a.Dir} {
		if !filepath.IsAbs(dir) {
			continue
		}
		repo, err := git.Discover(git.Locate{Dir: dir, Getenv: a.Getenv, Environ: a.Environ})
		if err == nil && !repo.Bare && repo.Root != "" {
			repos = append(repos, repo)
		}
	}
	defer func() {
		for _, repo := range repos {
			_ = repo.Close()
		}
	}()
	var here, recording *git.Repo // recording holds the session's state
	if len(repos) > 0 {
		here, recording = repos[0], repos[0]
	}
	if i := slices.IndexFunc(repos, func(repo *git.Repo) bool {
		return session.CheckID(line.SessionID) == nil && session.Open(repo.CommonDir).Stamp(line.SessionID) != ""
	}); i >= 0 {
		recording = repos[i]
	}
	own := noteLine(ctx, a, recording, line)
	if command := formerLine(a, here); command != "" {
		// The user's own status line runs in the same way as the agent would run it.
		ctx, cancel := context.WithTimeout(ctx, statuslineTimeout)
		defer cancel()
		dir := a.Dir
		if _, err := os.Stat(dir); err != nil {
			dir = ""
		}
		out, _ := proc.Run{ // the output counts even on failure, as for the agent
			Path: "/bin/sh", Args: []string{"-c", command}, Dir: dir,
			Env:   append(append([]string{}, a.Environ...), statuslineGuard+"=1"),
			Stdin: bytes.NewReader(raw), Limit: statuslineLimit,
		}.Output(ctx)
		_, _ = a.Streams.Out.Write(out)
		return
	}
	if own != "" {
		a.Streams.Printf("%s\n", own)
	}
}

// noteLine records the fill of the context if the session is recorded, and returns a line of our
// own.
func noteLine(ctx context.Context, a *app.App, repo *git.Repo, line claude.Line) string {
	if repo == nil {
		return ""
	}
	is := a.Settings(repo)
	if !is.Enabled {
		return ""
	}
	var facts []string
	w := a.WorkspaceOf(repo, is, slog.New(slog.DiscardHandler))
	switch n, checkpoint := savedcontext.ChangedSince(ctx, w, line.SessionID); {
	case n > 0 && checkpoint != "":
		facts = append(facts, fmt.Sprintf("%s since checkpoint %.6s", ui.Plural(n, "file"), checkpoint))
	case n > 0:
		facts = append(facts, ui.Plural(n, "file")+" in no checkpoint")
	}
	if fill, known := line.Fill(a.Now()); known {
		_, _ = session.Open(repo.CommonDir).SetFill(fill)
		facts = append(facts, fmt.Sprintf("context %d%%", fill.Percent))
	}
	if len(facts) == 0 {
		return ""
	}
	return "entire: " + strings.Join(facts, " · ")
}

// formerLine returns the user's own status line: the one that ours replaced, else that of the
// settings with lower precedence. repo may be nil.
func formerLine(a *app.App, repo *git.Repo) string {
	var all []agenthook.Settings
	if repo != nil {
		files := app.ClaudeFiles(repo.Root)
		all = append(all, app.ClaudeSettings(repo, files[1]), app.ClaudeSettings(repo, files[0]))
	}
	all = append(all, agenthook.Settings{Path: filepath.Join(app.ClaudeClient(a).Dir(), "settings.json")})
	for _, s := range all {
		command, former, ours, err := s.StatusLine()
		switch {
		case err != nil:
		case ours && former != "":
			return former
		case !ours && command != "":
			return command
		}
	}
	return ""
}
