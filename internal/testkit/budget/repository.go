package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// history is a repository to generate.
type history struct {
	name        string
	files       int
	commits     int
	checkpoints int // number of newest commits that have one
	talk        int // bytes of transcript per checkpoint
	// parts is the number of checkpoints of each session, whose transcript grows; then every
	// commit has a checkpoint. If it is 0, every checkpoint has a session of its own.
	parts int
}

func (h history) imported(im *importer) {
	if h.parts > 0 {
		im.sessions(h)
	} else {
		im.history(h)
	}
}

// template returns a generated file or folder of the cache, made on first use.
func (b *bench) template(name string, generate func(path string)) string {
	const edition = "2-" // of the generated data
	path := filepath.Join(b.cache, edition+name)
	if _, err := os.Lstat(path); err == nil {
		return path
	}
	b.Logf("generating %s", name)
	made := filepath.Join(b.work, "new-"+name)
	generate(made)
	b.Must(os.Rename(made, path))
	return path
}

func (b *bench) git(dir string, args ...string) string {
	return testkit.Call{Dir: dir, Env: b.env, Name: "git", Args: args}.Must(b)
}

// repository returns a fresh copy of a generated repository with an up-to-date index.
func (b *bench) repository(h history, as string) string {
	from := b.template(h.name, func(path string) { b.imported(path, h.imported) })
	dir := filepath.Join(b.work, as)
	testkit.Call{Dir: b.work, Env: b.env, Name: "cp", Args: []string{"-a", from, dir}}.Must(b)
	b.git(dir, "status", "--porcelain")
	return dir
}

// enabled returns a fresh copy with recording enabled.
func (b *bench) enabled(h history, as string) string {
	dir := b.repository(h, as)
	testkit.Call{Dir: dir, Env: b.env, Name: b.bin, Args: []string{"enable", "--agent", "claude-code"}}.Must(b)
	b.git(dir, "add", "-A")
	b.git(dir, "-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "enable")
	return dir
}

func (h history) path(i int) string {
	if h.files <= 100 { //nolint:mnd // small
		return fmt.Sprintf("src/f%03d.go", i)
	}
	return fmt.Sprintf("pkg%02d/mod%02d/f%05d.go", i%60, i/60%20, i)
}

// importer writes a stream for git fast-import.
type importer struct {
	*bufio.Writer

	rng  *rand.Rand
	mark int
	at   int64
}

// firstCommit is the time at which generated histories begin.
const firstCommit = 1700000000

// imported makes a repository with the commits that fill imports.
func (b *bench) imported(dir string, fill func(*importer)) {
	b.git(b.work, "init", "-q", "-b", "main", dir)
	cmd := exec.Command("git", "-C", dir, "fast-import", "--quiet", "--depth=10")
	cmd.Env = b.env
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	pipe, err := cmd.StdinPipe()
	b.Must(err)
	b.Must(cmd.Start())
	rng := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // no secret: the same each time
	im := importer{bufio.NewWriter(pipe), rng, 0, firstCommit}
	fill(&im)
	b.Must(im.Flush())
	b.Must(pipe.Close())
	b.Must(cmd.Wait())
	b.git(dir, "reset", "-q", "--hard", "main")
}

func (im *importer) history(h history) {
	const eachCommit = 3
	all := make(map[string]string, h.files+1)
	for i := range h.files {
		all[h.path(i)] = im.source()
	}
	all[".gitignore"] = "node_modules/\n*.log\n"
	tip := im.commit("refs/heads/main", "initial import", all, 0)
	shadow := 0
	if h.checkpoints > 0 {
		shadow = im.commit("refs/heads/entire/checkpoints/v1", "Initialize metadata branch", nil, 0)
	}
	for n := 1; n < h.commits; n++ {
		changed := map[string]string{}
		for range eachCommit {
			changed[h.path(im.rng.IntN(h.files))] = im.source()
		}
		message := fmt.Sprintf("change %d", n)
		if n >= h.commits-h.checkpoints {
			id := fmt.Sprintf("%012x", im.rng.Uint64()>>16)
			message += "\n\nEntire-Checkpoint: " + id
			shadow = im.checkpoint(record{id: id, touched: changed, talk: h.talk}, shadow)
		}
		tip = im.commit("refs/heads/main", message, changed, tip)
	}
}

// commit writes a commit with the given parent (0: none) and returns its mark.
func (im *importer) commit(ref, message string, files map[string]string, parent int) int {
	im.mark++
	im.at += 60
	who := fmt.Sprintf("Bench <bench@example.com> %d +0000", im.at)
	fmt.Fprintf(im, "commit %s\nmark :%d\nauthor %s\ncommitter %s\ndata %d\n%s\n\n", ref, im.mark, who, who, len(message)+1, message)
	if parent > 0 {
		fmt.Fprintf(im, "from :%d\n", parent)
	}
	for path, content := range files {
		fmt.Fprintf(im, "M 100644 inline %s\ndata %d\n%s\n", path, len(content), content)
	}
	fmt.Fprintln(im)
	return im.mark
}

// record has the data of a generated checkpoint.
type record struct {
	id      string
	touched map[string]string
	talk    int
	lines   testkit.Object // who wrote the commit's lines; nil if not recorded
}

// checkpoint writes a checkpoint of one session with the given parent.
func (im *importer) checkpoint(r record, parent int) int {
	id := r.id
	session := testkit.UUID(id)
	w := writer{rng: im.rng, session: session, cwd: "/repo", now: since(time.Unix(im.at, 0))}
	var transcript bytes.Buffer
	for transcript.Len() < r.talk {
		transcript.WriteString(w.step())
	}
	c := storedSession{
		id: id, session: session, transcript: transcript.String(), created: time.Unix(im.at, 0),
		prompts: "Please change the parser", context: "# Session Context\n\n## User Prompts\n\n### Prompt 1\n\nPlease change the parser\n",
	}
	for p := range r.touched {
		c.paths = append(c.paths, p)
	}
	if r.lines != nil {
		c.more = testkit.Object{"initial_attribution", r.lines}
	}
	return im.store(c, parent)
}

// storedSession has the contents of a checkpoint of one session.
type storedSession struct {
	id, session string // of the checkpoint and of its session
	paths       []string
	created     time.Time

	transcript, prompts, context string

	more testkit.Object // other properties of the session
}

// store writes a checkpoint with the given parent.
func (im *importer) store(c storedSession, parent int) int {
	dir := c.id[:2] + "/" + c.id[2:]
	base := "/" + dir
	usage := testkit.Object{"input_tokens", 10, "cache_creation_tokens", 10, "cache_read_tokens", 10, "output_tokens", 10, "api_call_count", 2}
	root := testkit.Object{
		"cli_version", "bench", "checkpoint_id", c.id, "strategy", "manual-commit", "branch", "main", "checkpoints_count", 1,
		"files_touched", c.paths, "sessions",
		[]any{testkit.Object{
			"metadata", base + "/0/metadata.json", "transcript", base + "/0/full.jsonl", "context", base + "/0/context.md",
			"content_hash", base + "/0/content_hash.txt", "prompt", base + "/0/prompt.txt",
		}},
		"token_usage", usage,
	}
	meta := append(testkit.Object{
		"cli_version", "bench", "checkpoint_id", c.id, "session_id", c.session, "strategy", "manual-commit",
		"created_at", c.created.UTC().Format(time.RFC3339),
		"branch", "main", "checkpoints_count", 1, "files_touched", c.paths, "agent", "Claude Code", "token_usage", usage,
	}, c.more...)
	files := map[string]string{
		dir + "/metadata.json": root.JSON() + "\n", dir + "/0/metadata.json": meta.JSON() + "\n",
		dir + "/0/full.jsonl": c.transcript, dir + "/0/prompt.txt": c.prompts, dir + "/0/context.md": c.context,
		dir + "/0/content_hash.txt": fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(c.transcript))),
	}
	message := "Checkpoint: " + c.id + "\n\nEntire-Session: " + c.session + "\nEntire-Strategy: manual-commit\nEntire-Agent: Claude Code"
	return im.commit("refs/heads/entire/checkpoints/v1", message, files, parent)
}

// source returns the text of a source file.
func (im *importer) source() string {
	var b strings.Builder
	b.WriteString("package p\n")
	w := writer{rng: im.rng}
	for size := 1000 + im.rng.IntN(1500); b.Len() < size; {
		fmt.Fprintf(&b, "func F%d() int { return %d } // %s\n", im.rng.IntN(1<<30), im.rng.IntN(1<<20), w.text(30))
	}
	return b.String()
}

// gitSize returns the size of all files in the .git of a worktree.
func (b *bench) gitSize(dir string) int64 {
	var total int64
	seen := map[uint64]bool{} // snapshots have hard links
	b.Must(filepath.WalkDir(filepath.Join(dir, ".git"), func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			inode := uint64(stat.Ino) //nolint:unconvert // 32 bits on some systems
			if seen[inode] {
				return nil
			}
			seen[inode] = true
		}
		total += info.Size()
		return nil
	}))
	return total
}
