package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/session/agent"
)

// storedSession is a session in a checkpoint that another user pushed to the metadata branch.
type storedSession struct {
	meta map[string]any
	text string
}

// oneLine returns a transcript of one line.
func oneLine(at, text string) string {
	return fmt.Sprintf(`{"type":"user","cwd":"/home/ada/proj","timestamp":%q,"message":{"role":"user","content":%q}}`, at, text) + "\n"
}

// putCheckpoint writes a checkpoint to the metadata branch.
func (d *desk) putCheckpoint(id string, sessions ...storedSession) {
	d.Helper()
	var in strings.Builder
	const branch = "refs/heads/entire/checkpoints/v1"
	fmt.Fprintf(&in, "commit %s\ncommitter A <a@example.com> 1770000000 +0000\ndata 1\nx\n", branch)
	if exec.Command("git", "-C", d.root, "rev-parse", "-q", "--verify", branch).Run() == nil {
		fmt.Fprintf(&in, "from %s^0\n", branch)
	}
	file := func(name, text string) {
		fmt.Fprintf(&in, "M 100644 inline %s/%s/%s\ndata %d\n%s\n", id[:2], id[2:], name, len(text), text)
	}
	file("metadata.json", "{}")
	for i, s := range sessions {
		meta, err := json.Marshal(s.meta)
		if err != nil {
			d.Fatal(err)
		}
		file(fmt.Sprintf("%d/metadata.json", i), string(meta))
		if s.text != "" {
			file(fmt.Sprintf("%d/full.jsonl", i), s.text)
		}
	}
	cmd := exec.Command("git", "-C", d.root, "fast-import", "--quiet", "--date-format=raw")
	cmd.Env, cmd.Stdin = d.env, strings.NewReader(in.String()+"done\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		d.Fatalf("fast-import: %v\n%s", err, out)
	}
}

// transcriptPath returns the path where the agent keeps a session's transcript.
func (d *desk) transcriptPath(id string) string {
	return filepath.Join(agent.ClaudeCode().Project(func(string) string { return "" }, d.home, d.root), id+".jsonl")
}

func (d *desk) interactive(input string) {
	d.terminal = ui.Terminal{In: true, Out: true, Err: true, Accessible: true, Plain: true}
	d.input = strings.NewReader(input)
}

// resumeDesk returns a desk with a commit and the checkpoint of one session.
func resumeDesk(t *testing.T) *desk {
	t.Helper()
	d := repoDesk(t)
	d.putCheckpoint("a1b2c3d4e5f6", storedSession{map[string]any{"session_id": "s1"}, oneLine("2026-01-02T00:00:00Z", "hello")})
	d.git("commit", "-q", "--allow-empty", "-m", "work\n\nEntire-Checkpoint: a1b2c3d4e5f6")
	return d
}

// local writes the agent's transcript of the session s1.
func (d *desk) local(text string) {
	d.Helper()
	path := d.transcriptPath("s1")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) localIs(text string) {
	d.Helper()
	data, err := os.ReadFile(d.transcriptPath("s1"))
	if err != nil || string(data) != text {
		d.Errorf("the local transcript is %q, %v", data, err)
	}
}

func TestResumeAsksBeforeItReplacesANewerTranscript(t *testing.T) {
	t.Parallel()
	newer := oneLine("2026-01-03T00:00:00Z", "and more")
	restored := strings.ReplaceAll(oneLine("2026-01-02T00:00:00Z", "hello"), "/home/ada/proj", "%ROOT%")
	tests := map[string]struct {
		input string
		code  int
		text  string
		kept  bool
	}{
		"no":      {"n\n", 0, "Nothing was written.", true},
		"silence": {"\n", 0, "Nothing was written.", true},
		"the end": {"", 130, "Cancelled.", true},
		"yes":     {"y\n", 0, "The previous one is kept:", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := resumeDesk(t)
			d.local(newer)
			d.interactive(tt.input)
			r := d.entire("resume", "main")
			if r.code != tt.code || !strings.Contains(r.err, tt.text) {
				t.Errorf("exit %d\n%s", r.code, r.err)
			}
			want := newer
			if !tt.kept {
				want = strings.ReplaceAll(restored, "%ROOT%", d.root)
			}
			d.localIs(want)
		})
	}
}

func TestResumeReportsNewerTranscript(t *testing.T) {
	t.Parallel()
	at := func(time string) string { return fmt.Sprintf(`{"timestamp":%q}`, time) + "\n" }
	const early, late = "2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z"
	tests := map[string]struct {
		stored, local string
		kept          bool
	}{
		"later time":             {at(early), at(late), true},
		"earlier time":           {at(late), at(early), false},
		"no time here":           {at(late), "{}\n", false},
		"no time there":          {"{}\n", at(early), true},
		"no time at all":         {`{"a":1}`, `{"b":1}`, false},
		"goes on without times":  {`{"a":1}`, "{\"a\":1}\n{\"b\":1}\n", true},
		"ends earlier":           {"{\"a\":1}\n{\"b\":1}", "{\"a\":1}\n", false},
		"times beside the point": {at(early), at(late) + at(early) + "{}\n" + at("2025-01-01T00:00:00Z"), false},
		"book-keeping behind":    {at(early), at(early) + "{}\n", false},
		"empty":                  {at(early), "", false},
		"cut":                    {at(early), at(early)[:10], false},
	}
	for name, tt := range testkit.ShortTable(tests, 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := repoDesk(t)
			d.putCheckpoint("a1b2c3d4e5f6", storedSession{map[string]any{"session_id": "s1"}, tt.stored})
			d.local(tt.local)
			r := d.entire("resume", "a1b2c3d4e5f6")
			if kept := r.code == 1; kept != tt.kept {
				t.Errorf("exit %d\n%s", r.code, r.err)
			}
			switch {
			case tt.kept, name == "book-keeping behind":
				d.localIs(tt.local)
			default:
				d.localIs(strings.TrimSuffix(tt.stored, "\n") + "\n")
			}
		})
	}
}

func TestResumeAsksAboutCommitsWithoutACheckpoint(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{"n\n": "Resume cancelled, nothing was changed.", "y\n": "claude -r s1"} {
		d := resumeDesk(t)
		d.git("commit", "-q", "--allow-empty", "-m", "by hand")
		d.interactive(input)
		r := d.entire("resume", "main")
		if r.code != 0 || !strings.Contains(r.err, want) || !strings.Contains(r.err, "1 commit without one") {
			t.Errorf("%q: exit %d\n%s", input, r.code, r.err)
		}
	}
}

func TestResumeAsksBeforeItMakesABranch(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{"n\n": "main", "y\n": "feature"} {
		d := resumeDesk(t)
		d.git("branch", "feature")
		d.git("clone", "-q", "--bare", ".", "../hub.git")
		d.git("branch", "-q", "-D", "feature")
		d.git("remote", "add", "hub", "../hub.git")
		d.git("fetch", "-q", "hub")
		if r := d.entire("resume", "feature"); r.code != 2 || !strings.Contains(r.err, "--force") {
			t.Errorf("no terminal: exit %d\n%s", r.code, r.err)
		}
		d.interactive(input)
		r := d.entire("resume", "feature")
		if got := d.git("symbolic-ref", "--short", "HEAD"); r.code != 0 || got != want {
			t.Errorf("%q: exit %d, on %s\n%s", input, r.code, got, r.err)
		}
	}
}

// TestResumeIgnoresStoredPaths checks that a user who can push to the metadata branch can't write
// files outside the agent's directory.
func TestResumeIgnoresStoredPaths(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	secret := filepath.Join(d.home, ".bashrc")
	if err := os.WriteFile(secret, []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	evil := oneLine("2026-01-02T00:00:00Z", "evil")
	d.putCheckpoint("a1b2c3d4e5f6",
		storedSession{map[string]any{"session_id": "good", "transcript_path": ".bashrc"}, evil},
		storedSession{map[string]any{"session_id": "../../../.bashrc", "transcript_path": "../.bashrc"}, evil},
		storedSession{map[string]any{"session_id": "x; rm -rf ~"}, evil},
		storedSession{map[string]any{"session_id": "-rf"}, evil},
		storedSession{map[string]any{"session_id": "\x1b[2J"}, evil},
		storedSession{map[string]any{"session_id": "gone"}, ""},
		storedSession{map[string]any{"session_id": "other", "agent": "Amp"}, evil},
		storedSession{map[string]any{"agent": 7, "session_id": 8}, evil},
	)
	r := d.entire("resume", "a1b2c3d")
	if r.code != 0 || !strings.Contains(r.err, "claude -r good") {
		t.Fatalf("exit %d\n%s", r.code, r.err)
	}
	for _, text := range []string{"it was recorded by Amp", "it has no transcript", "its id is not valid for an agent"} {
		if !strings.Contains(r.err, text) {
			t.Errorf("no %q in\n%s", text, r.err)
		}
	}
	if strings.Contains(r.err, "\x1b") || strings.Count(r.err, "claude -r") != 1 {
		t.Errorf("printed\n%q", r.err)
	}
	var files []string
	_ = filepath.WalkDir(d.home, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files = append(files, strings.TrimPrefix(path, d.home+"/"))
		}
		return err
	})
	if diff := cmp.Diff([]string{".bashrc", strings.TrimPrefix(d.transcriptPath("good"), d.home+"/"), ".gitconfig"}, files); diff != "" {
		t.Error(diff)
	}
	if data, err := os.ReadFile(secret); err != nil || string(data) != "mine\n" {
		t.Errorf("%q %v", data, err)
	}
}

// TestResumeFollowsNoLinkOut checks that the target of a link in the agent's directory isn't
// written, and that the other sessions aren't written either.
func TestResumeFollowsNoLinkOut(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	d.putCheckpoint("a1b2c3d4e5f6",
		storedSession{map[string]any{"session_id": "s0"}, oneLine("2026-01-02T00:00:00Z", "x")},
		storedSession{map[string]any{"session_id": "s1"}, oneLine("2026-01-02T00:00:00Z", "x")})
	target := filepath.Join(d.home, "notes.jsonl")
	if err := os.WriteFile(target, []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.local("")
	if err := os.Remove(d.transcriptPath("s1")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, d.transcriptPath("s1")); err != nil {
		t.Fatal(err)
	}
	r := d.entire("resume", "--force", "a1b2c3d4e5f6")
	if r.code != 1 || !strings.Contains(r.err, "outside the agent's session directories") {
		t.Errorf("exit %d\n%s", r.code, r.err)
	}
	if data, err := os.ReadFile(target); err != nil || string(data) != "mine\n" {
		t.Errorf("%q %v", data, err)
	}
	if _, err := os.Lstat(d.transcriptPath("s0")); err == nil {
		t.Error("the other session was written")
	}
}

func TestResumeUsesLastTrailer(t *testing.T) {
	t.Parallel()
	d := resumeDesk(t)
	d.putCheckpoint("b1b2c3d4e5f6", storedSession{map[string]any{"session_id": "s2"}, oneLine("2026-01-02T00:00:00Z", "x")})
	d.git("commit", "-q", "--allow-empty", "-m", "squash\n\nEntire-Checkpoint: a1b2c3d4e5f6\nEntire-Checkpoint: b1b2c3d4e5f6")
	if r := d.entire("resume", "HEAD"); !strings.Contains(r.err, "claude -r s2") {
		t.Errorf("exit %d\n%s", r.code, r.err)
	}
	d.git("commit", "-q", "--allow-empty", "-m", "squash\n\nEntire-Checkpoint: a1b2c3d4e5f6\nEntire-Checkpoint: c1b2c3d4e5f6")
	if r := d.entire("resume", "HEAD"); r.code != 0 || !strings.Contains(r.err, "c1b2c3d4e5f6 is missing; using the one before it, a1b2c3d4e5f6") {
		t.Errorf("a checkpoint that is not stored: exit %d\n%s", r.code, r.err)
	}
	d.git("commit", "-q", "--allow-empty", "-m", "lost\n\nEntire-Checkpoint: c1b2c3d4e5f6")
	if r := d.entire("resume", "HEAD"); r.code != 1 || !strings.Contains(r.err, "c1b2c3d4e5f6 is not in this clone: no remote") {
		t.Errorf("nothing stored: exit %d\n%s", r.code, r.err)
	}
	d.putCheckpoint("a1b2c3dfffff", storedSession{map[string]any{"session_id": "s2"}, "{}"})
	if r := d.entire("resume", "a1b2c3d"); r.code != 1 || !strings.Contains(r.err, "ambiguous") {
		t.Errorf("an ambiguous prefix: exit %d\n%s", r.code, r.err)
	}
}
