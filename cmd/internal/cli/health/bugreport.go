package health

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// reportedLog is the number of bytes at the end of the log that a report includes.
const reportedLog = 32 << 10

// writeBugReport writes the file that --report names.
func (c *consulting) writeBugReport(ctx context.Context, repo *git.Repo) error {
	path := c.opts.bugReport
	if path != "-" {
		path = c.Absolute(path)
		if _, err := os.Lstat(path); err == nil {
			return app.WithHint(fmt.Errorf("%s already exists", c.ShortPath(path)), "name another file with --report")
		}
	}
	list, err := c.look(ctx)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	w := ui.Streams{Out: &b}
	w.Printf("Report of entire, %s\n", c.Now().UTC().Format(time.RFC3339))
	w.Printf("\nVersions\n\n")
	var versions ui.Table
	versions.AddRow("entire", c.Version)
	versions.AddRow("built with", runtime.Version())
	versions.AddRow("system", runtime.GOOS+"/"+runtime.GOARCH)
	agents, err := agentList(c.App, repo)
	if err != nil {
		return err
	}
	for _, item := range agents.Agents {
		if item.Program != "" || item.Installed > 0 || item.Sessions > 0 {
			versions.AddRow(item.Agent, cmp.Or(app.PackageVersion(item.Program), "-"))
		}
	}
	w.Printf("%s", versions.String())
	w.Printf("\nAgents\n\n")
	printAgents(w, c.Now(), agents)
	w.Printf("\nSettings\n\n")
	s := c.Settings(repo)
	var values ui.Table
	for _, v := range setup.JSON(&s).Values {
		values.AddRow(v.Key, setup.Shown(v.Value), setup.Origin(v))
	}
	w.Printf("%s", values.String())
	w.Printf("\nFindings\n\n")
	printFindings(w, list)
	events, err := app.KeptUndecoded(workspace.UndecodedDir(repo))
	if err != nil {
		return err
	}
	w.Printf("\nEvents that could not be decoded\n\n")
	for _, e := range events {
		w.Printf("%s  %s %s  %s: %s\n%s\n", e.Time.Format(time.RFC3339), e.Agent, cmp.Or(e.Version, "of an unknown version"), e.Event, e.Error, e.Payload)
	}
	w.Printf("\nEnd of the log\n\n")
	for _, line := range app.LogTail(app.LogPath(workspace.Runtime(repo, s.Activation.Level)), reportedLog) {
		w.Printf("%s\n", line)
	}
	clean := redact.New().WithFilesOf(repo.Root).Text(b.String())
	if c.Home != "" {
		clean = strings.ReplaceAll(clean, c.Home, "~")
	}
	if path == "-" {
		c.Streams.Printf("%s", clean)
		return nil
	}
	if err := disk.WriteDurable(path, []byte(clean), 0o600); err != nil {
		return err
	}
	c.Streams.Printf("Wrote %s. Nothing was sent.\n", c.ShortPath(path))
	c.Streams.Hint("read it before you share it: secrets are replaced, names of files and sessions are not")
	return nil
}
