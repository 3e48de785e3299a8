package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// replay is a scratch repository for repeating the first session of a pair and beginning the second
// one, with the program's own hooks.
type replay struct {
	ctx             context.Context //nolint:containedctx // of one replay, which is a function's
	program         string
	dir, root, home string
	env             []string
	pair            pair
}

// given is the text that the program gave the second session.
type given struct {
	start  string // at its start
	prompt string // with its first prompt
	whole  string // the output of `entire recall resume`
}

// text returns the text that the second session was given.
func (g given) text() string { return strings.TrimSpace(g.start + "\n" + g.prompt) }

// repeat plays a pair in a folder.
func repeat(ctx context.Context, program, dir string, p pair) (given, error) {
	r := &replay{ctx: ctx, program: program, dir: dir, root: filepath.Join(dir, "repo"), home: filepath.Join(dir, "home"), pair: p}
	r.env = []string{
		"HOME=" + r.home, "XDG_CONFIG_HOME=" + filepath.Join(r.home, "config"), "PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH"), "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"CLAUDE_PROJECT_DIR=" + r.root, "ENTIRE_AUTO_CHECKPOINT_ON_CLEAR=true",
	}
	if err := r.prepare(); err != nil {
		return given{}, err
	}
	if err := r.before(); err != nil {
		return given{}, err
	}
	return r.after()
}

// prepare makes the repository, with the contents of files before the first edit.
func (r *replay) prepare() error {
	branch := r.pair.before.branch
	if branch == "" || branch == "HEAD" {
		branch = "main"
	}
	if err := os.MkdirAll(r.home, 0o700); err != nil {
		return err
	}
	if err := r.run("", "git", "init", "-q", "-b", branch, r.root); err != nil {
		return err
	}
	for file, text := range r.pair.before.base() {
		if err := r.write(file, text); err != nil {
			return err
		}
	}
	if err := r.run(r.root, "git", "add", "-A"); err != nil {
		return err
	}
	if err := r.run(r.root, "git", "commit", "-q", "--allow-empty", "-m", "base"); err != nil {
		return err
	}
	if err := r.run(r.root, r.program, "enable", "--agent", "claude-code", "--no-bands", "--no-mcp"); err != nil {
		return err
	}
	exclude := filepath.Join(r.root, ".git", "info", "exclude")
	return os.WriteFile(exclude, []byte(".entire/\n.claude/\n"), 0o600)
}

// base returns the contents of files before the session's first edit of them, including files that
// it only read.
func (t *transcript) base() map[string]string {
	base := map[string]string{}
	edited := map[string]bool{}
	for _, e := range t.events {
		if e.kind != toolCall || !e.call.ended || e.call.failed {
			continue
		}
		f := e.call.file
		if file := t.inside(f.Read.Path); file != "" && !edited[file] && f.Read.Start <= 1 && f.Read.Lines >= f.Read.Total {
			if _, ok := base[file]; !ok {
				base[file] = f.Read.Content
			}
		}
		if file := t.inside(f.Path); file != "" && e.call.edits() {
			if !edited[file] && f.Original != nil {
				base[file] = *f.Original
			}
			edited[file] = true
		}
	}
	return base
}

// before repeats the first session: its edits and commits, then its end.
func (r *replay) before() error {
	t := r.pair.before
	if err := os.MkdirAll(r.projects(), 0o700); err != nil {
		return err
	}
	path := filepath.Join(r.projects(), t.id+".jsonl")
	text := r.moved(string(bytes.Join(t.lines, []byte("\n")))) + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	begin := map[string]any{"source": "startup"}
	if err := r.hooks(t.id, path, begin, "session-start"); err != nil {
		return err
	}
	const id = "00000000-0000-4000-8000-00000000000"
	if err := r.hooks(t.id, path, map[string]any{"prompt": t.requests()[0], "prompt_id": id + "1"}, "user-prompt-submit"); err != nil {
		return err
	}
	committed := map[int]bool{}
	for _, c := range t.commits() {
		committed[c.at] = true
	}
	for i, e := range t.events {
		if e.kind != toolCall {
			continue
		}
		if f := e.call.file; e.call.edits() {
			if text, ok := f.apply(); ok && t.inside(f.Path) != "" {
				if err := r.write(t.inside(f.Path), text); err != nil {
					return err
				}
			}
		}
		if committed[i] {
			if err := r.commit(i, e.call); err != nil {
				return err
			}
		}
	}
	end := map[string]any{"reason": "clear", "prompt_id": id + "2"}
	if t.offersPlan() { // such a session ends within the turn
		end["prompt_id"] = id + "1"
		return r.hooks(t.id, path, end, "session-end")
	}
	if r.pair.kind == newPair || r.pair.kind == cutPair {
		end["reason"] = "prompt_input_exit"
	}
	if err := r.hooks(t.id, path, map[string]any{"stop_hook_active": false}, "stop"); err != nil {
		return err
	}
	return r.hooks(t.id, path, end, "session-end")
}

// offersPlan reports whether the session ends with the offer of a plan.
func (t *transcript) offersPlan() bool {
	last := t.events[len(t.events)-1]
	return (last.kind == toolCall || last.kind == denial) && last.call.name == "ExitPlanMode"
}

// commit commits the files whose edits are in the session's commit.
func (r *replay) commit(at int, c *call) error {
	so := &transcript{root: r.pair.before.root, events: r.pair.before.events[:at+1]}
	_, edited := so.known()
	for file := range edited {
		if so.covered(file) != notInCommit {
			if _, err := os.Stat(filepath.Join(r.root, file)); err == nil {
				if err := r.run(r.root, "git", "add", "--", file); err != nil {
					return err
				}
			}
		}
	}
	subject := "commit"
	if m := committedAs.FindStringSubmatch(c.output); m != nil {
		subject = m[3]
	}
	return r.run(r.root, "git", "-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "-m", subject)
}

// after begins the second session and returns the text that it is given.
func (r *replay) after() (given, error) {
	var g given
	t := r.pair.after
	id := t.id
	if id == r.pair.before.id { // one session, cut in two
		id = "ffffffff" + id[min(len(id), shortName):]
	}
	path := filepath.Join(r.projects(), id+".jsonl")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return g, err
	}
	if b := t.firstBranch; b != "" && b != "HEAD" && b != r.pair.before.branch {
		if err := r.run(r.root, "git", "checkout", "-q", "-B", b); err != nil {
			return g, err
		}
	}
	source := "clear"
	if r.pair.kind == newPair || r.pair.kind == cutPair {
		source = "startup"
	}
	for _, name := range []string{"session-start", "session-brief"} {
		text, err := r.hook(name, id, path, map[string]any{"source": source})
		if err != nil {
			return g, err
		}
		g.start += text + "\n"
	}
	if r.pair.kind == planPair && r.pair.before.offersPlan() {
		return r.whole(g) // the agent calls no hook for an accepted plan
	}
	text, err := r.hook("user-prompt-submit", id, path, map[string]any{"prompt": r.moved(t.requests()[0]), "prompt_id": "00000000-0000-4000-8000-000000000003"})
	if err != nil {
		return g, err
	}
	g.prompt = text
	return r.whole(g)
}

// whole adds the whole brief to g.
func (r *replay) whole(g given) (given, error) {
	cmd := exec.CommandContext(r.ctx, r.program, "recall", "resume", "--no-pager")
	cmd.Dir, cmd.Env = r.root, r.env
	out, err := cmd.Output()
	g.whole = string(out)
	for _, text := range []*string{&g.start, &g.prompt, &g.whole} {
		*text = strings.ReplaceAll(*text, r.root, r.pair.before.root)
	}
	return g, err
}

func (r *replay) hooks(id, path string, fields map[string]any, name string) error {
	_, err := r.hook(name, id, path, fields)
	return err
}

// hook runs a hook of the agent and returns the text that it adds to the context.
func (r *replay) hook(name, id, path string, fields map[string]any) (string, error) {
	payload := map[string]any{"session_id": id, "transcript_path": path, "cwd": r.root, "hook_event_name": name}
	maps.Copy(payload, fields)
	data, err := json.Marshal(payload)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(r.ctx, r.program, "hooks", "claude-code", name)
	cmd.Dir, cmd.Env, cmd.Stdin = r.root, r.env, bytes.NewReader(data)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("hook %s: %w", name, err)
	}
	var answer struct {
		Output struct {
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if len(bytes.TrimSpace(out)) == 0 {
		return "", nil
	}
	if !json.Valid(out) {
		return string(out), nil // plain text is context, too
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return "", fmt.Errorf("output of hook %s: %w", name, err)
	}
	return answer.Output.Context, nil
}

var notInName = regexp.MustCompile(`[^A-Za-z0-9]`)

func (r *replay) projects() string {
	return filepath.Join(r.home, ".claude", "projects", notInName.ReplaceAllString(r.root, "-"))
}

// moved returns a text with the root of the sessions replaced.
func (r *replay) moved(text string) string {
	return strings.ReplaceAll(text, r.pair.before.root, r.root)
}

func (r *replay) write(file, text string) error {
	name := filepath.Join(r.root, file)
	if strings.HasPrefix(file, ".git/") || strings.HasPrefix(file, ".claude/settings") || strings.HasPrefix(file, ".entire/") {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o600)
}

func (r *replay) run(dir string, name string, args ...string) error {
	cmd := exec.CommandContext(r.ctx, name, args...)
	cmd.Dir, cmd.Env = dir, r.env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
	return nil
}
