package health

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/hooks/githook"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/strategy/doctor"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Codes of findings that only the command line makes; the others are those of the notes of
// `status`.
const (
	codeNotSetUp      = "not-set-up"
	codeNotExecutable = "git-hooks-not-executable"
	codeAgentHooksOff = "agent-hooks-off"
	codeOtherProgram  = "other-program"
)

// hookBackup is the suffix of the name of another hook that ours runs.
const hookBackup = ".pre-entire"

// moreChecks returns the checks of hooks and settings.
func moreChecks(a *app.App, repo *git.Repo, is settings.Settings) []doctor.Check {
	if !is.Configured {
		return []doctor.Check{func(context.Context) ([]doctor.Finding, error) {
			f := doctor.Finding{
				Code: codeNotSetUp, Severity: doctor.Note, What: "sessions are not recorded here", Why: "commits are not linked to sessions",
				Hint: "run `entire enable`",
			}
			if is.Activation.Reason != settings.NotEnabled {
				f.What += ": " + is.Activation.Text()
				f.Hint = "see " + settings.UserFile(a.SettingsSources(repo))
			}
			return []doctor.Finding{f}, nil
		}}
	}
	return []doctor.Check{
		func(ctx context.Context) ([]doctor.Finding, error) { return checkGitHooks(ctx, repo, is) },
		func(context.Context) ([]doctor.Finding, error) { return checkAgentHooks(a, repo, is) },
		func(context.Context) ([]doctor.Finding, error) { return checkUserHooks(a, is), nil },
		func(context.Context) ([]doctor.Finding, error) { return checkQuestioning(a, repo) },
		// The program that hooks run as `entire`.
		func(context.Context) ([]doctor.Finding, error) {
			path, found := app.FindOnPath(a.Getenv, "entire")
			if !found {
				return []doctor.Finding{{
					Code: "not-on-path", Severity: doctor.Warning, What: "`entire` isn't on your PATH", Why: "the hooks do nothing",
					Hint: "add its folder to PATH, also for graphical programs that commit",
				}}, nil
			}
			self, err := os.Executable()
			if err != nil {
				return nil, nil //nolint:nilerr // without it there is no comparison
			}
			hooks := filepath.Join(filepath.Dir(self), "entire") // in the folder of entire-cli
			if app.SameFile(self, path) || app.SameFile(hooks, path) {
				return nil, nil
			}
			return []doctor.Finding{{
				Code: codeOtherProgram, Severity: doctor.Note, Subject: path,
				What: "hooks run a different program, " + self, Why: "it may be another version",
				Hint: "`" + path + " version` says which",
			}}, nil
		},
		// Problems of the settings.
		func(context.Context) ([]doctor.Finding, error) {
			all := setup.WithStores(a, is)
			notes := setup.SettingsNotes(&all)
			list := make([]doctor.Finding, 0, len(notes))
			for _, n := range notes {
				f := doctor.Finding{Code: n.Code, Severity: doctor.Note, What: sentence(n.Message), Hint: n.Hint}
				if n.Code == "bad-setting" {
					f.Severity, f.Hint = doctor.Warning, "`entire config` shows the values in force"
				}
				list = append(list, f)
			}
			return list, nil
		},
		// Failed hooks.
		func(context.Context) ([]doctor.Finding, error) {
			failed := failures(a, workspace.Runtime(repo, is.Activation.Level))
			if failed == nil {
				return nil, nil
			}
			return []doctor.Finding{{
				Code: "hook-failures", Severity: doctor.Note, Subject: failed.Log,
				What: ui.Plural(failed.Count, "hook failure") + " since " + ui.Since(a.Now(), failed.Since),
				Why:  "the next hook completes the work, unless it is reported above",
			}}, nil
		},
	}
}

// checkGitHooks checks whether git runs our hooks, and finds the reasons if it doesn't.
func checkGitHooks(ctx context.Context, repo *git.Repo, is settings.Settings) ([]doctor.Finding, error) {
	s, err := githook.Installer{Repo: repo}.Check(ctx)
	if err != nil {
		return nil, err
	}
	if is.Activation.Level == settings.Machine && !s.AnyInstalled() {
		return nil, nil // the first session installs them
	}
	// All files that installing git's hooks may change.
	files := []string{filepath.Join(repo.CommonDir, "config"), filepath.Join(repo.GitDir, "config.worktree")}
	names := slices.Concat(s.Installed, s.Missing, s.Overwritten, s.Outdated)
	for _, dir := range []string{s.Dir, filepath.Join(repo.CommonDir, "hooks"), filepath.Join(repo.CommonDir, "entire", "hooks")} {
		for _, name := range names {
			files = append(files, filepath.Join(dir, name), filepath.Join(dir, name+hookBackup))
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // missing
		}
		for _, e := range entries {
			if e.Type().IsRegular() {
				files = append(files, filepath.Join(dir, e.Name()))
			}
		}
	}
	var list []doctor.Finding
	repair := &doctor.Repair{Kind: "git-hooks", Files: files, Do: func(ctx context.Context) error {
		_, err := setup.GitHooks(ctx, repo, false)
		return err
	}}
	for _, n := range setup.GitHookNotes(s) {
		f := doctor.Finding{
			Code: n.Code, Severity: doctor.Warning, Subject: s.Dir, What: sentence(n.Message),
			Why: "commits are not linked to sessions",
		}
		if setup.NoGitHooks(s) {
			f.Why = "commits here are not linked to sessions; reading needs no hooks"
		}
		if n.Hint != "" {
			f.Fix, f.Repair = "install Entire's hooks; other hooks continue to run", repair
		} else {
			f.Severity, f.Why = doctor.Note, ""
		}
		list = append(list, f)
	}
	for _, name := range s.Installed {
		if path := filepath.Join(s.Dir, name); syscall.Access(path, executable) != nil {
			list = append(list, doctor.Finding{
				Code: codeNotExecutable, Severity: doctor.Warning, Subject: path,
				What: "the system doesn't execute the hook",
				Why:  "commits are not linked to sessions: the file system is mounted noexec, or the folder is not accessible",
				Hint: "mount it without noexec, or move hooks elsewhere with core.hooksPath and run `entire enable`",
			})
			break // it applies to all of them
		}
	}
	return list, nil
}

// executable is X_OK of access(2).
const executable = 1

// checkAgentHooks checks whether agents run our hooks, and finds the reasons if they don't.
func checkAgentHooks(a *app.App, repo *git.Repo, is settings.Settings) ([]doctor.Finding, error) {
	agents, err := setup.CheckAgents(a, repo)
	var list []doctor.Finding
	texts, lacks := notes(agents, repo), lacking(agents)
	if is.Activation.Level == settings.Machine {
		lacks = nil // see checkUserHooks
	}
	for i, h := range lacks {
		why := "sessions of this worktree are not recorded completely"
		if h.Installed == 0 {
			why = "sessions of this worktree are not recorded; reading needs no hooks"
		}
		list = append(list, doctor.Finding{
			Code: texts[i].Code, Severity: doctor.Warning, Subject: repo.Root, What: sentence(texts[i].Message),
			Why: why,
			Fix: "add them to " + h.Settings.Path,
			Repair: &doctor.Repair{Files: []string{h.Settings.Path}, Do: func(context.Context) error {
				_, _, err := h.Settings.Install()
				return err
			}},
		})
	}
	user := filepath.Join(cmp.Or(a.Getenv("CLAUDE_CONFIG_DIR"), filepath.Join(a.Home, ".claude")), "settings.json")
	for _, b := range claude.Blocked(append(app.ClaudeFiles(repo.Root), user), claude.ManagedFiles()) {
		list = append(list, doctor.Finding{
			Code: codeAgentHooksOff, Severity: doctor.Warning, Subject: b.File,
			What: b.Key + " is set: " + setup.ClaudeLabel + " runs no hooks of this project",
			Why:  "its sessions are not recorded",
			Hint: "take " + b.Key + " out of " + b.File,
		})
	}
	if agents[0].Former {
		list = append(list, doctor.Finding{
			Code: "former-hooks", Severity: doctor.Note, Subject: agents[0].Settings.Path,
			What: "hooks of the earlier Entire CLI are also installed",
			Why:  "don't run its `rewind` on sessions recorded by this program: it would delete files",
		})
	}
	return list, err
}

// checkUserHooks checks the hooks in the user's own settings of agents, if every repository of the
// machine is recorded.
func checkUserHooks(a *app.App, is settings.Settings) []doctor.Finding {
	if !is.Global.Enabled {
		return nil
	}
	var list []doctor.Finding
	notes := setup.UserHooksNotes(a)
	for i, s := range setup.UserHooksMissing(a) {
		list = append(list, doctor.Finding{
			Code: notes[i].Code, Severity: doctor.Warning, Subject: s.Path, What: sentence(notes[i].Message),
			Why: "sessions in repositories without their own hooks are not recorded completely",
			Fix: "add them to " + s.Path,
			Repair: &doctor.Repair{Files: []string{s.Path}, Do: func(context.Context) error {
				_, _, err := s.Install()
				return err
			}},
		})
	}
	return list
}

// sentence returns a note's message without its full stop.
func sentence(text string) string {
	if n := len(text); n > 0 && text[n-1] == '.' {
		return text[:n-1]
	}
	return text
}
