package hookrun

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// mostKept is the maximum number of bytes kept of an event that can't be decoded.
const mostKept = 64 << 10

// beginning keeps the first mostKept bytes written to it.
type beginning struct{ data []byte }

// Write keeps p up to the limit. It returns len(p) in any case.
func (b *beginning) Write(p []byte) (int, error) {
	b.data = append(b.data, p[:min(len(p), mostKept-len(b.data))]...)
	return len(p), nil
}

// undecoded stores an event that can't be decoded, redacted, for `entire doctor --report`. It
// returns the error to log: nil if one of the same agent and name was stored in the last day.
func (h *hook) undecoded(ctx context.Context, payload []byte, cause error) error {
	w := h.workspace(h.settings.LockTimeout)
	dir, event := workspace.UndecodedDir(w.Repo), app.EventName(h.name)
	if !app.IsNewUndecoded(dir, h.by.Name, event, h.app.Now()) {
		return nil
	}
	u := app.Undecoded{Time: h.app.Now().UTC(), Agent: h.by.Name, Version: agentVersion(h.app, h.by), Event: event}
	text, err := w.Redact.TextContext(ctx, string(payload))
	if err == nil {
		u.Payload = text
		u.Error = w.Redact.Text(cause.Error())
		err = app.KeepUndecoded(dir, &u)
	}
	h.log.WarnContext(ctx, "event not decoded", "agent", u.Agent, "version", u.Version, "event", u.Event)
	return errors.Join(cause, err)
}

// agentVersion returns the version of the package of the agent that is an ancestor of this process,
// "" if none is found.
func agentVersion(a *app.App, by agent.Agent) string {
	for _, info := range proc.Ancestors() {
		if !by.IsProgram(info.Args) {
			continue
		}
		for _, arg := range info.Args {
			if !strings.ContainsRune(arg, filepath.Separator) {
				arg, _ = app.FindOnPath(a.Getenv, arg)
			}
			if version := app.PackageVersion(arg); version != "" {
				return version
			}
		}
	}
	return ""
}
