package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/strategy/recall/brief"
)

// replay is a scratch repository that repeats the sessions of a folder with the program's hooks.
type replay struct {
	ctx             context.Context //nolint:containedctx // of one replay, which is a function's
	program, tool   string
	dir, root, home string
	env             []string
	from            string            // the folder of the sessions
	made            map[string]string // hash of the transcript: hash of the replay
	prompts         int
	active          map[*transcript]int // the lines that were repeated of sessions that have begun
	left            map[string]string   // the changes when the last session began
	hooksTook       took                // since it was cleared
}

// given is the text that the program gave a session.
type given struct {
	start  string // at its start
	prompt string // with its first prompt
	whole  string // the output of `entire recall resume`
	// What the hooks of the start and of the prompt took.
	atStart, atPrompt took
}

// took is what hooks took.
type took struct {
	elapsed   time.Duration
	processor time.Duration
}

// text returns the text that the session was given.
func (g given) text() string { return strings.TrimSpace(g.start + "\n" + g.prompt) }

// newReplay makes the repository, with the contents of files before the sessions.
func newReplay(ctx context.Context, program, tool string, sessions []*transcript) (*replay, error) {
	dir, err := os.MkdirTemp("", "handover")
	if err != nil {
		return nil, err
	}
	r := &replay{
		ctx: ctx, program: program, tool: tool, dir: filepath.Join(dir, "now"), from: sessions[0].root, made: map[string]string{}, active: map[*transcript]int{},
	}
	r.root, r.home = filepath.Join(r.dir, "repo"), filepath.Join(r.dir, "home")
	r.env = []string{
		"HOME=" + r.home, "XDG_CONFIG_HOME=" + filepath.Join(r.home, "config"), "PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH"), "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"CLAUDE_PROJECT_DIR=" + r.root, "ENTIRE_AUTO_CHECKPOINT_ON_CLEAR=true", "ENTIRE_NO_DETACH=1",
	}
	return r, r.prepare(sessions)
}

func (r *replay) close() { _ = os.RemoveAll(filepath.Dir(r.dir)) }

func (r *replay) prepare(sessions []*transcript) error {
	if err := os.MkdirAll(r.projects(), 0o700); err != nil {
		return err
	}
	if err := r.run("", "git", "init", "-q", "-b", branchName(sessions[0].firstBranch), r.root); err != nil {
		return err
	}
	base, edited := map[string]string{}, map[string]bool{}
	for _, t := range sessions {
		t.base(base, edited)
	}
	for file, text := range base {
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

func branchName(b string) string {
	if b == "" || b == "HEAD" {
		return "main"
	}
	return b
}

// base adds the contents of files before the first edit by a session, including files that sessions
// only read.
func (t *transcript) base(base map[string]string, edited map[string]bool) {
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
}

// transcriptPath returns where the agent writes the transcript of a session.
func (r *replay) transcriptPath(id string) string { return filepath.Join(r.projects(), id+".jsonl") }

// promptID returns an identifier for the next prompt.
func (r *replay) promptID() string {
	r.prompts++
	return fmt.Sprintf("00000000-0000-4000-8000-%012d", r.prompts)
}

// begin begins a session with its first prompt, and returns the text that it is given.
func (r *replay) begin(t *transcript, kind string, carriesPlan bool) (given, error) {
	var g given
	for other := range maps.Clone(r.active) {
		if err := r.advance(other, other.before(t.began)); err != nil {
			return g, err
		}
	}
	if err := r.commitEarlier(); err != nil {
		return g, err
	}
	path := r.transcriptPath(t.id)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return g, err
	}
	if err := r.run(r.root, "git", "checkout", "-q", "-B", branchName(t.firstBranch)); err != nil {
		return g, err
	}
	if len(t.lines) > 0 {
		r.active[t] = 0
	}
	source := "startup"
	if kind == clearPair || kind == planPair {
		source = "clear"
	}
	r.hooksTook = took{}
	for _, name := range []string{"session-start", "session-brief"} {
		text, err := r.hook(name, t.id, path, map[string]any{"source": source})
		if err != nil {
			return g, err
		}
		g.start += text + "\n"
	}
	g.atStart = r.hooksTook
	if kind == planPair && carriesPlan {
		return g, nil // the agent calls no hook for an accepted plan
	}
	r.hooksTook = took{}
	var err error
	prompt := r.moved(strings.ReplaceAll(t.requests()[0], t.root, r.root))
	g.prompt, err = r.hook("user-prompt-submit", t.id, path, map[string]any{"prompt": prompt, "prompt_id": r.promptID()})
	g.atPrompt = r.hooksTook
	return g, err
}

// advance repeats the edits and commits of a session up to a line of its transcript, and writes the
// transcript up to it.
func (r *replay) advance(t *transcript, lines int) error {
	from := r.active[t]
	r.active[t] = max(lines, from)
	committed := map[int]commit{}
	for _, c := range t.commits() {
		committed[c.at] = c
	}
	for i, e := range t.events {
		if e.kind != toolCall || e.line < from || e.line >= lines {
			continue
		}
		if f := e.call.file; e.call.edits() {
			if text, ok := f.apply(); ok && t.inside(f.Path) != "" {
				if err := r.write(t.inside(f.Path), text); err != nil {
					return err
				}
			}
		}
		if c, ok := committed[i]; ok {
			if err := r.commit(t, c); err != nil {
				return err
			}
		}
	}
	text := r.moved(string(bytes.Join(t.lines[:r.active[t]], []byte("\n")))) + "\n"
	return os.WriteFile(r.transcriptPath(t.id), []byte(text), 0o600)
}

// end repeats the rest of a session, and ends it.
func (r *replay) end(t *transcript, reason string) error {
	if t.branch != t.firstBranch {
		if err := r.run(r.root, "git", "checkout", "-q", "-B", branchName(t.branch)); err != nil {
			return err
		}
	}
	if err := r.advance(t, len(t.lines)); err != nil {
		return err
	}
	delete(r.active, t)
	path := r.transcriptPath(t.id)
	for id, lines := range t.agents {
		dir := filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "agent-"+id+".jsonl"), []byte(r.moved(string(lines))), 0o600); err != nil {
			return err
		}
	}
	id := r.promptID()
	if !t.offersPlan() { // such a session ends within the turn
		if err := r.hooks(t.id, path, map[string]any{"stop_hook_active": false}, "stop"); err != nil {
			return err
		}
	}
	return r.hooks(t.id, path, map[string]any{"reason": reason, "prompt_id": id}, "session-end")
}

// commitEarlier commits the changes that were there when the last session began, as the person may
// have done since.
func (r *replay) commitEarlier() error {
	before := r.left
	var err error
	if r.left, err = r.changed(); err != nil || len(r.active) > 0 {
		return err
	}
	var list []string
	for file, state := range before {
		if r.left[file] == state {
			list = append(list, file)
		}
	}
	if len(list) == 0 {
		return nil
	}
	if err := r.run(r.root, "git", append([]string{"add", "-A", "--"}, list...)...); err != nil {
		return err
	}
	return r.run(r.root, "git", append([]string{"-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", earlierWork, "--"}, list...)...)
}

// earlierWork is the subject of the person's commits.
const earlierWork = "Commit earlier work"

// changed returns the files that differ from HEAD, with the hashes of their contents.
func (r *replay) changed() (map[string]string, error) {
	listed, err := r.output("git", "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for entry := range strings.SplitSeq(listed, "\x00") {
		if len(entry) < 4 {
			continue
		}
		file := entry[3:]
		data, err := os.ReadFile(filepath.Join(r.root, file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		sum := sha256.Sum256(data)
		files[file] = string(sum[:])
	}
	return files, nil
}

// offersPlan reports whether the session ends with the offer of a plan.
func (t *transcript) offersPlan() bool {
	last := t.events[len(t.events)-1]
	return (last.kind == toolCall || last.kind == denial) && last.call.name == "ExitPlanMode"
}

// commit commits the files whose edits are in the session's commit.
func (r *replay) commit(t *transcript, c commit) error {
	so := &transcript{root: t.root, events: t.events[:c.at+1]}
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
	subject := c.subject
	if subject == "" {
		subject = "commit"
	}
	args := []string{"-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "-m", subject}
	if c.amends {
		args = append(args, "--amend")
	}
	if err := r.run(r.root, "git", args...); err != nil {
		return err
	}
	head, err := r.output("git", "rev-parse", "HEAD")
	if c.hash != "" {
		r.made[c.hash] = strings.TrimSpace(head)
	}
	return err
}

// whole adds the whole brief that a session starting now would get. If another tool is measured, its
// output takes the place of all texts: with as many tokens as the text given has, and as a whole
// brief may have.
func (r *replay) whole(t *transcript, g given) (_ given, err error) {
	if g.whole, err = r.output(r.program, "recall", "resume", "--no-pager"); err != nil || r.tool == "" {
		return g, err
	}
	cmd := exec.CommandContext(r.ctx, "sh", "-c", r.tool)
	cmd.Dir, cmd.Env = r.root, append(slices.Clone(r.env), "PROMPT="+r.moved(t.requests()[0]))
	began := time.Now()
	out, err := cmd.Output()
	g.atPrompt = took{elapsed: time.Since(began)}
	const mostTokens = 4000
	g.start, g.prompt, g.whole = cutTo(string(out), brief.CountTokens(g.text())), "", cutTo(string(out), mostTokens)
	return g, err
}

// cutTo returns the first lines of a text that have at most a number of tokens.
func cutTo(text string, tokens int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if brief.CountTokens(b.String()+line) > tokens {
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// original returns the text with the paths and hashes of the transcripts instead of the replay's.
func (r *replay) original(g given) given {
	for _, text := range []*string{&g.start, &g.prompt, &g.whole} {
		*text = strings.ReplaceAll(*text, r.root, r.from)
		*text = hexWord.ReplaceAllStringFunc(*text, func(word string) string {
			for old, hash := range r.made {
				if strings.HasPrefix(hash, word) {
					return old
				}
			}
			return word
		})
	}
	return g
}

var hexWord = regexp.MustCompile(`\b[0-9a-f]{7,40}\b`)

// moved returns a text with the root and the hashes of the sessions replaced by the replay's.
func (r *replay) moved(text string) string {
	text = strings.ReplaceAll(text, r.from, r.root)
	if len(r.made) == 0 {
		return text
	}
	return hexWord.ReplaceAllStringFunc(text, func(word string) string {
		for old, hash := range r.made {
			if strings.HasPrefix(word, old) || strings.HasPrefix(old, word) {
				return hash[:len(word)]
			}
		}
		return word
	})
}

// try runs a function whose changes to the repository and the home are undone.
func (r *replay) try(run func() error) error {
	saved := r.dir + ".saved"
	if err := duplicate(r.dir, saved); err != nil {
		return err
	}
	active, left := maps.Clone(r.active), r.left
	err := run()
	r.active, r.left = active, left
	return errors.Join(err, os.RemoveAll(r.dir), os.Rename(saved, r.dir))
}

// duplicate copies a folder. Files that nothing changes are linked.
func duplicate(from, to string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		case d.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(name)
			if err != nil {
				return err
			}
			return os.Symlink(link, target) //nolint:gosec // in a scratch folder
		case !d.Type().IsRegular():
			return nil
		case strings.Contains(rel, ".git/objects/"):
			return os.Link(name, target) //nolint:gosec // in a scratch folder
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name) //nolint:gosec // of the scratch repository
		if err != nil {
			return err
		}
		if err := os.WriteFile(target, data, info.Mode()); err != nil { //nolint:gosec // in a scratch folder
			return err
		}
		return os.Chtimes(target, info.ModTime(), info.ModTime())
	})
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
	began := time.Now()
	out, err := cmd.Output()
	r.hooksTook.elapsed += time.Since(began)
	if cmd.ProcessState != nil {
		r.hooksTook.processor += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
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

func (r *replay) output(name string, args ...string) (string, error) {
	cmd := exec.CommandContext(r.ctx, name, args...)
	cmd.Dir, cmd.Env = r.root, r.env
	out, err := cmd.Output()
	return string(out), err
}

func (r *replay) run(dir string, name string, args ...string) error {
	cmd := exec.CommandContext(r.ctx, name, args...)
	cmd.Dir, cmd.Env = dir, r.env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
	return nil
}
