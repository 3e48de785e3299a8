package hookrun

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/hooks/githook"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/session/transcript/plugintranscript"
	"github.com/seed-3aff656d/entire/strategy"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// agent runs a hook of an agent.
func (h *hook) agent(ctx context.Context) error {
	if agenthook.IsForeign(h.by, h.app.Getenv) {
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, h.app.Settings(nil).HookTimeout)
	var kept beginning
	payload, bad := agenthook.Hook{Agent: h.by, Verb: h.name}.Decode(wait, io.TeeReader(h.app.Streams.In, &kept))
	inTime := wait.Err() == nil // else the read still runs
	cancel()
	if agenthook.IsAtUse(h.name) && bad == nil {
		return h.atUse(ctx, payload)
	}
	repo, err := sessionRepo(h.app, payload)
	if err != nil {
		if bad == nil && !payload.Ignored {
			return h.unrecorded(ctx, payload, false)
		}
		return nil
	}
	defer func() { _ = repo.Close() }()
	on := h.open(repo)
	switch {
	case !on && bad == nil && !payload.Ignored:
		return h.unrecorded(ctx, payload, true)
	case !on, bad == nil && payload.Ignored:
		return nil
	case h.isDuplicate():
		h.repo = nil // nothing to log
		return nil
	case bad != nil && inTime && len(kept.data) > 0:
		return h.undecoded(ctx, kept.data, bad)
	case bad != nil:
		return bad
	}
	timeout := h.settings.HookTimeout
	if h.name == "session-end" {
		timeout = min(timeout, endTimeout)
	}
	whole := ctx
	ctx, cancel = context.WithTimeout(ctx, timeout)
	defer cancel()
	h.session = payload.SessionID
	if t, err := checkpoint.LoadTombstones(h.repo.CommonDir); err != nil || t.HasSession(h.session) {
		h.log.InfoContext(ctx, "the session was forgotten: nothing is recorded", "session_id", h.session)
		return err
	}
	w := h.workspace(h.settings.LockTimeout)
	stored := h.setTranscript(ctx, &payload)
	if h.name == "stop" {
		payload.AwaitTranscript(ctx, h.by)
	}
	h.repairHooks(ctx)
	in := h.input(payload)
	answer, err := agenthook.Handle(ctx, w, h.name, in)
	answer.Stored = stored
	if errors.Is(err, agenthook.ErrVerb) {
		return h.undecoded(ctx, kept.data, err)
	}
	if h.name == "session-start" {
		note, hint := app.ExplainInterruptedRewind(h.repo)
		answer.Say(note, hint)
	}
	if h.name == "stop" || h.name == "stop-failure" {
		if err == nil || errors.Is(err, agenthook.ErrContext) {
			// The commit of the turn may take as long as the user's hooks and signing do, and has a
			// deadline of its own.
			own := h.repo.Processes()
			notice, failed := strategy.CommitTurn(whole, h.w, h.session)
			h.commit = h.repo.Processes() - own
			if notice != "" {
				answer.Say("Entire: " + notice)
			}
			err = errors.Join(err, failed)
		}
		err = errors.Join(err, h.startIndexing())
	}
	data, unsaid := answer.Encode(h.by)
	if len(data) > 0 {
		h.app.Streams.Printf("%s", data) // the only output: the agent reads no more
	}
	return errors.Join(err, unsaid, h.elsewhere(whole, in), h.finish(ctx))
}

// atUse prints a line about the file or command of a tool call, if there is one. It runs before most
// tool calls of the agent, so it starts no process, takes no lock and doesn't read the session's state;
// without a line it logs nothing.
func (h *hook) atUse(ctx context.Context, payload agenthook.Payload) error {
	use := payload.ToolUse(h.name)
	dir := payload.Dir
	if !filepath.IsAbs(dir) {
		dir = h.app.Dir
	}
	switch {
	case len(use.Paths) > 0:
		dir = existing(filepath.Dir(use.Paths[0]))
	case use.Command == "":
		return nil
	}
	repo, err := git.Discover(git.Locate{Dir: dir, Getenv: h.app.Getenv, Environ: h.app.Environ})
	if err != nil {
		return nil // the file is in no repository
	}
	defer func() { _ = repo.Close() }()
	if !h.open(repo) {
		return nil
	}
	if h.settings.Recall.AtUse {
		ctx, cancel := context.WithTimeout(ctx, h.settings.HookTimeout)
		defer cancel()
		h.session = payload.SessionID
		answer := agenthook.Answer{Event: "PreToolUse"}
		if h.name == agenthook.PostUse {
			answer.Event = "PostToolUse"
		}
		if answer.Context, err = savedcontext.AtUse(ctx, h.workspace(h.settings.LockTimeout), use); answer.Context != "" || err != nil {
			data, unsaid := answer.Encode(h.by)
			h.app.Streams.Printf("%s", data)
			return errors.Join(err, unsaid)
		}
	}
	h.repo = nil // nothing to log
	return nil
}

// existing returns dir, or the nearest folder above it that exists.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// input returns the event of a payload.
func (h *hook) input(payload agenthook.Payload) workspace.Input {
	return workspace.Input{
		SessionID: payload.SessionID, Transcript: payload.Transcript, Prompt: payload.Prompt,
		Summary: payload.Summary, Background: len(payload.Background) > 0, Agent: agentProcess(h.app, h.by), AgentType: h.by.Label,
		Source: payload.Source, Reason: payload.Reason, PromptID: payload.PromptID, Compaction: payload.Compaction,
		Task: payload.Task(h.name), StartContextLost: payload.StartContextLost, GiveAtUse: agenthook.GivesAtPrompt(h.by),
	}
}

// setTranscript sets the path of the session's transcript: that of the payload, the file where the
// agent keeps it, or the one written here from the messages that the agent hands over. It clears a
// path that may not be read. stored is the id of the last message written.
func (h *hook) setTranscript(ctx context.Context, payload *agenthook.Payload) (stored string) {
	var err error
	if payload.Transcript == "" && h.by.NamesLate {
		path, err := h.w.Transcripts().File(h.by, payload.SessionID, h.app.Now())
		if err == nil {
			_, err = os.Lstat(path)
		}
		if err == nil {
			payload.Transcript = path
		}
	}
	if h.by.HandsOver() {
		if payload.Transcript, stored, err = h.takeOver(ctx, *payload); err != nil {
			h.log.WarnContext(ctx, "transcript not written", "error", redact.New().Text(err.Error()))
		}
	}
	if err := h.checkTranscript(*payload); err != nil {
		h.log.WarnContext(ctx, "transcript not read", "error", redact.New().Text(err.Error()))
		payload.Transcript = "" // git's and the snapshots' data is still recorded
	}
	return stored
}

// checkTranscript refuses a transcript that isn't the agent's, because its content would be stored
// in the repository. A path that is already in the session's state was checked when it was first
// named, in the environment of that time.
func (h *hook) checkTranscript(p agenthook.Payload) error {
	if p.Transcript == "" {
		return nil
	}
	if s, err := session.Open(h.repo.CommonDir).Load(p.SessionID); err == nil && s.TranscriptPath == p.Transcript {
		return nil
	}
	return transcript.Place{
		Getenv: h.app.Getenv, Home: h.app.Home, Root: h.repo.Root, Records: workspace.RecordsDir(h.repo),
	}.Check(h.by, p.Transcript)
}

// takeOver adds the messages that a plugin hands over to the transcript that the program writes, of
// the session or of a subagent. It returns the session's transcript and the last message's id.
func (h *hook) takeOver(ctx context.Context, p agenthook.Payload) (path, stored string, err error) {
	path, err = h.w.Transcripts().File(h.by, p.SessionID, h.app.Now())
	if err != nil {
		return "", "", err
	}
	m := plugintranscript.Messages{
		Session: p.SessionID, Subagent: p.AgentID, Dir: p.Dir, List: p.Messages,
		Ended: slices.Contains([]string{"stop", "post-task", "session-end"}, h.name),
	}
	to := path
	if m.Subagent != "" {
		if !transcript.IsToolID(m.Subagent) {
			return path, "", errors.New("unusable id of a subagent")
		}
		to = transcript.SubagentPath(path, m.Subagent)
	}
	stored, err = plugintranscript.Append(ctx, to, m, h.w.Redact)
	return path, stored, err
}

// sessionRepo finds the repository of an agent's event: the one that holds the session's state,
// searched from the project folder and then from the working directory, and in it the worktree of
// the working directory, else the session's last worktree.
func sessionRepo(a *app.App, p agenthook.Payload) (*git.Repo, error) {
	dir := p.Dir
	if !filepath.IsAbs(dir) {
		dir = a.Dir
	}
	locate := func(dir string) (*git.Repo, error) {
		return git.Discover(git.Locate{Dir: dir, Getenv: a.Getenv, Environ: a.Environ})
	}
	here, err := locate(dir)
	if err != nil && dir != a.Dir {
		here, err = locate(a.Dir)
	}
	project := a.Getenv("CLAUDE_PROJECT_DIR")
	if !filepath.IsAbs(project) {
		return here, err
	}
	there, failed := locate(project)
	if failed != nil || (err == nil && there.CommonDir == here.CommonDir) {
		return here, err
	}
	s, lost := session.Open(there.CommonDir).Load(p.SessionID)
	if lost == nil {
		if last, err := locate(s.WorktreePath); err == nil && last.CommonDir == there.CommonDir {
			return last, nil
		}
		return there, nil
	}
	if err == nil {
		if _, lost := session.Open(here.CommonDir).Load(p.SessionID); lost == nil {
			return here, nil
		}
	}
	return there, nil
}

// repairHooks records at the start of a session or a turn that the repository is enabled on this
// machine, and repairs hooks that other tools have changed. At the start of a turn it runs no git
// process if git's hooks are unchanged. In a repository that is recorded only because every one is,
// it leaves no marker, so that this ends with the user's setting, and installs git's hooks at the
// first event, whichever that is.
func (h *hook) repairHooks(ctx context.Context) {
	start, isMachine := h.name == "session-start", h.settings.Activation.Level == settings.Machine
	if !start && h.name != "user-prompt-submit" && !isMachine {
		return
	}
	marker := settings.MarkerFile(h.repo.CommonDir)
	if _, err := os.Lstat(marker); err != nil && !isMachine {
		err := os.MkdirAll(filepath.Dir(marker), 0o700)
		if err == nil {
			err = disk.WriteCache(marker, nil, 0o600)
		}
		if err != nil {
			h.log.WarnContext(ctx, "not marked as enabled", "error", err.Error())
		}
	}
	installer, configs := githook.Installer{Repo: h.repo}, app.GlobalGitConfigs(h.app)
	if !start && h.name != "user-prompt-submit" && installer.WasTried() {
		return
	}
	if start || installer.MayHaveChanged(configs...) {
		before := h.repo.Processes()
		report, err := installer.Mend(ctx, configs...)
		if err != nil {
			h.log.WarnContext(ctx, "git hooks not installed", "error", err.Error())
		}
		if report.Changed {
			h.mended = h.repo.Processes() - before
			h.log.InfoContext(ctx, "git hooks mended", "dir", report.Dir)
		}
		for _, note := range report.Notes {
			h.log.InfoContext(ctx, "git hooks", "note", note)
		}
	}
	if !start {
		return
	}
	all := app.Maintained(h.app, h.repo, h.by)
	for _, s := range all {
		if n, _, err := s.Check(); err != nil || n == 0 {
			continue
		}
		if _, _, err := s.Install(); err != nil {
			h.log.WarnContext(ctx, "agent hooks not upgraded", "path", s.Path, "error", err.Error())
		}
	}
	// Temporary files of interrupted installations beside the agents' files in the worktree.
	const gone = time.Hour // the age at which a temporary file's writer has exited
	before := h.app.Now().Add(-gone)
	failed := make([]error, 0, len(all)+1)
	for _, s := range app.AllServers(h.repo, h.repo.Root) {
		failed = append(failed, s.Sweep(before))
	}
	for _, s := range all {
		failed = append(failed, s.Sweep(before))
	}
	if err := errors.Join(failed...); err != nil {
		h.log.WarnContext(ctx, "temporary files left", "error", err.Error())
	}
}

// isDuplicate reports whether the agent also runs the hook of another file for the same event,
// which acts for both: the project's files come before the user's, and these before the plugin.
func (h *hook) isDuplicate() bool {
	isUser, isPlugin := slices.Contains(h.args, agenthook.UserArgument), h.app.Getenv("CLAUDE_PLUGIN_ROOT") != ""
	if !isUser && !isPlugin {
		return false
	}
	has := func(s agenthook.Settings) bool { return s.Runs(h.name) }
	user, known := app.UserSettings(h.app, h.by)
	for _, path := range agenthook.Files(h.by, h.repo.Root) {
		if path != user.Path && has(app.AgentSettings(h.repo, h.by, path)) {
			return true
		}
	}
	return isPlugin && known && has(user)
}

// agentProcess returns the process of the agent: the one that the environment names, or the
// ancestor of this process that runs the agent's program.
func agentProcess(a *app.App, by agent.Agent) session.Process {
	if by.ProcessVariable == "" {
		for _, info := range proc.Ancestors() {
			if by.IsProgram(info.Args) {
				return session.Process{PID: info.PID, Start: info.Start}
			}
		}
		return session.Process{}
	}
	pid, err := strconv.Atoi(a.Getenv(by.ProcessVariable))
	if err != nil || pid <= 1 {
		return session.Process{}
	}
	info, ok := proc.Inspect(pid)
	if !ok {
		return session.Process{}
	}
	return session.Process{PID: pid, Start: info.Start}
}

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
