//go:build e2e

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestLab plays testdata/lab/*.txtar: the genuine agent works in a repository, with a script in
// place of the model. docs/testing.md describes the format. ENTIRE_LAB is the lab's folder,
// ENTIRE_BIN that of the program.
func TestLab(t *testing.T) {
	lab, bin := os.Getenv("ENTIRE_LAB"), os.Getenv("ENTIRE_BIN")
	if lab == "" || bin == "" {
		t.Skip("ENTIRE_LAB and ENTIRE_BIN aren't set: make e2e-claude LAB=folder")
	}
	files, err := filepath.Glob("../../testdata/lab/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no lab scripts: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) { playLab(t, lab, bin, file) })
	}
}

// labRun holds the records of one run of the agent.
type labRun struct {
	t        *testing.T
	log      string
	requests []labRequest
	hooks    []string
}

type labRequest struct {
	Place   string          `json:"place"`
	Request json.RawMessage `json:"request"`
}

func playLab(t *testing.T, lab, bin, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	project := filepath.Join(dir, "project")
	parts := map[string]string{}
	for _, f := range archive.Files {
		if rest, ok := strings.CutPrefix(f.Name, "project/"); ok {
			labWrite(t, filepath.Join(project, rest), string(f.Data))
			continue
		}
		parts[f.Name] = string(f.Data)
	}
	labGit(t, project)
	labClient(t, lab, filepath.Join(dir, "tools"))
	run := labPlayer{t: t, lab: lab, bin: bin, dir: dir, project: project}
	if driver := strings.TrimSpace(parts["volume"]); driver != "" {
		run.convert(driver)
	}
	var at *labRun
	for _, line := range append([]string{"run 1"}, strings.Split(parts["want"], "\n")...) {
		switch line = strings.TrimSpace(line); {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "run "):
			at = run.play(strings.TrimPrefix(line, "run "), parts)
		default:
			at.check(line)
		}
	}
	if keep := os.Getenv("ENTIRE_LAB_KEEP"); keep != "" {
		if err := os.CopyFS(filepath.Join(keep, strings.TrimSuffix(filepath.Base(file), ".txtar")), os.DirFS(dir)); err != nil {
			t.Log(err)
		}
	}
}

// labPlayer runs the lab in one project and with one HOME.
type labPlayer struct {
	t                      *testing.T
	lab, bin, dir, project string
	volume                 bool // the project is a volume
}

// convert converts the project to a volume of the driver.
func (p *labPlayer) convert(driver string) {
	p.t.Helper()
	if os.Getuid() != 0 {
		p.t.Skip("mounting needs root")
	}
	p.volume = true
	agentfs := func(args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(p.bin, "agentfs"), args...)
		cmd.Dir, cmd.Env = p.dir, append(os.Environ(), "HOME="+filepath.Join(p.dir, "home"))
		return cmd
	}
	for _, args := range [][]string{
		{"convert", p.project, "--driver", driver, "--size", "2G", "--name", "lab", "--force"}, {"convert", p.project, "--done", "--force"},
	} {
		if out, err := agentfs(args...).CombinedOutput(); err != nil {
			p.t.Fatalf("agentfs %q: %v\n%s", args, err, out)
		}
	}
	p.t.Cleanup(func() {
		if out, err := agentfs("delete", "lab", "--files", "--force").CombinedOutput(); err != nil {
			p.t.Errorf("agentfs delete: %v\n%s", err, out)
		}
	})
}

// play runs the agent for the n-th time. Runs after the first have parts of their own,
// script.json.2 and keys.2.
func (p *labPlayer) play(n string, parts map[string]string) *labRun {
	p.t.Helper()
	suffix := "." + n
	if n == "1" {
		suffix = ""
	}
	log := filepath.Join(p.dir, "log"+n)
	args := []string{
		"--project", p.project, "--log", log, "--home", filepath.Join(p.dir, "home"), "--path", p.bin, "--path", filepath.Join(p.dir, "tools"), "--hooklog", "--timeout", "120",
		"--script", labWrite(p.t, filepath.Join(p.dir, "script"+n+".json"), parts["script.json"+suffix]),
		"--keys", labWrite(p.t, filepath.Join(p.dir, "keys"+n), parts["keys"+suffix]),
	}
	if p.volume {
		args = append(args, "--no-netns") // mounting needs the real root
	}
	if setup := strings.TrimSpace(parts["setup"+suffix]); setup != "" {
		args = append(args, "--setup", strings.ReplaceAll(setup, "\n", " && "))
	}
	if more := strings.Fields(parts["claude"+suffix]); len(more) > 0 {
		args = append(append(args, "--"), more...)
	}
	cmd := exec.CommandContext(p.t.Context(), filepath.Join(p.lab, "run"), args...)
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+p.dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Errorf("%v\n%s", err, out)
	}
	r := &labRun{t: p.t, log: log}
	r.read()
	return r
}

func labWrite(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// labClient links the agent into dir, where a shell finds it.
func labClient(t *testing.T, lab, dir string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), filepath.Join(lab, "install")).Output()
	if err == nil {
		err = os.Mkdir(dir, 0o755)
	}
	if err == nil {
		err = os.Symlink(strings.TrimSpace(string(out)), filepath.Join(dir, "claude"))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// labGit makes the project a repository with one commit.
func labGit(t *testing.T, project string) {
	t.Helper()
	if err := os.MkdirAll(project, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "-A"},
		{"-c", "user.name=Lab", "-c", "user.email=lab@example.invalid", "commit", "-q", "--allow-empty", "-m", "Begin"},
	} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = project
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(project), "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

func (r *labRun) read() {
	labLines(r.t, filepath.Join(r.log, "requests.jsonl"), func(line []byte) error {
		var q labRequest
		err := json.Unmarshal(line, &q)
		r.requests = append(r.requests, q)
		return err
	})
	labLines(r.t, filepath.Join(r.log, "hooks.jsonl"), func(line []byte) error {
		var h struct {
			Event   string `json:"event"`
			Payload struct {
				Source string `json:"source"`
				Reason string `json:"reason"`
			} `json:"payload"`
		}
		err := json.Unmarshal(line, &h)
		name := h.Event
		if kind := h.Payload.Source + h.Payload.Reason; kind != "" && strings.HasPrefix(name, "Session") {
			name += ":" + kind
		}
		r.hooks = append(r.hooks, name)
		return err
	})
}

func labLines(t *testing.T, path string, yield func(line []byte) error) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = file.Close() }()
	in := bufio.NewReader(file)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			if err := yield(line); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		if err != nil {
			return
		}
	}
}

// check checks one line of the part "want".
func (r *labRun) check(line string) {
	r.t.Helper()
	words := strings.Fields(line)
	if words[0] == "hooks" {
		r.checkHooks(words[1:])
		return
	}
	what, quoted, ok := strings.Cut(line, ` "`)
	text, err := strconv.Unquote(`"` + quoted)
	if !ok || err != nil {
		r.t.Errorf("not understood: %s", line)
		return
	}
	subject, verb := what[:strings.LastIndexByte(what, ' ')], what[strings.LastIndexByte(what, ' ')+1:]
	where, found := r.text(subject)
	if !found {
		r.t.Errorf("%s: there is no such thing", line)
		return
	}
	if has := strings.Contains(where, text); has != (verb == "has") {
		r.t.Errorf("%s\n%s", line, where[max(0, len(where)-labShown):])
	}
}

// labShown is the maximum length of a text in a failure message.
const labShown = 6000

// text returns the text of a subject: "screen NAME", "shell", "request N M" (the messages of
// turn N, step M).
func (r *labRun) text(subject string) (string, bool) {
	words := strings.Fields(subject)
	switch {
	case words[0] == "request" && len(words) == 3:
		place := fmt.Sprintf("turn %s step %s", words[1], words[2])
		for _, q := range r.requests {
			if q.Place == place {
				return labMessages(q.Request), true
			}
		}
	case words[0] == "screen" && len(words) == 2:
		data, err := os.ReadFile(filepath.Join(r.log, words[1]+".txt"))
		// The terminal may break lines at any space.
		return strings.Join(strings.Fields(string(data)), " "), err == nil
	case words[0] == "shell":
		data, err := os.ReadFile(filepath.Join(r.log, "shell.txt"))
		return string(data), err == nil
	}
	return "", false
}

// labMessages returns the texts of a request's messages.
func labMessages(request json.RawMessage) string {
	var q struct {
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(request, &q) != nil {
		return ""
	}
	var all []string
	for _, m := range q.Messages {
		var text string
		if json.Unmarshal(m.Content, &text) == nil {
			all = append(all, text)
			continue
		}
		var blocks []struct {
			Text    string          `json:"text"`
			Content json.RawMessage `json:"content"` // of a tool result
		}
		if json.Unmarshal(m.Content, &blocks) == nil {
			for _, b := range blocks {
				all = append(all, b.Text, string(b.Content))
			}
		}
	}
	return strings.Join(all, "\n")
}

// checkHooks checks that these events occurred in this order, possibly with others between
// them.
func (r *labRun) checkHooks(want []string) {
	r.t.Helper()
	rest := r.hooks
	for _, event := range want {
		i := slices.Index(rest, event)
		if i < 0 {
			r.t.Errorf("hooks %v: no %s in order among %v", want, event, r.hooks)
			return
		}
		rest = rest[i+1:]
	}
}
