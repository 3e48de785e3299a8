package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// programDir returns the folder of the program under test.
func programDir(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("entire")
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(path)
}

// damage is one defect in a repository with pending files.
type damage struct {
	name string
	do   func(p *play)
	// unlinked reports that the next commit can't be linked.
	unlinked bool
}

// damages returns defects of our own files.
func damages() []damage {
	list := []damage{
		{name: "state truncated", unlinked: true, do: func(p *play) { p.cut(p.statePath(".json")) }},
		{name: "state empty", unlinked: true, do: func(p *play) { p.Write(p.statePath(".json"), "") }},
		{name: "state garbage", unlinked: true, do: func(p *play) { p.Write(p.statePath(".json"), "\x00\xffgarbage{{{") }},
		{name: "state of another", unlinked: true, do: func(p *play) { p.Write(p.statePath(".json"), `{"session_id": "another"}`) }},
		{name: "journal garbage", do: func(p *play) {
			p.Write(p.own("journal", "e3b0c4.0123456789ab.json"), "\x00garbage")
			p.Write(p.own("journal", "e3b0c4.0123456789ac.json"), "")
			p.Write(p.own("journal", "e3b0c4.keep.json"), `{"id": "../../../../etc", "keep": ["x"]}`)
			p.Write(p.own("journal", "short.json"), `[]`)
		}},
		{name: "links garbage", do: func(p *play) { p.Write(p.own("links.json"), `[{"id": 7`) }},
		{name: "links of another shape", do: func(p *play) { p.Write(p.own("links.json"), `{"id": "x"}`) }},
		{name: "dormant garbage", do: func(p *play) {
			p.Write(filepath.Join(p.CommonDir(), "entire-sessions", ".dormant"), "\x00\xff garbage\n"+filepath.Base(p.statePath(".json"))+"\n")
		}},
		{name: "log is a folder", do: func(p *play) {
			p.remove(filepath.Join(p.Root(), ".entire", "logs", "entire.log"))
			p.Write(filepath.Join(p.Root(), ".entire", "logs", "entire.log", "x"), "")
		}},
		{name: "all side files missing", do: func(p *play) {
			for _, kind := range sideFiles() {
				p.remove(p.statePath(kind))
			}
		}},
	}
	for _, kind := range sideFiles() {
		list = append(list,
			damage{name: kind + " missing", do: func(p *play) { p.remove(p.statePath(kind)) }},
			damage{name: kind + " truncated", do: func(p *play) { p.cut(p.statePath(kind)) }},
			damage{name: kind + " garbage", do: func(p *play) {
				p.Write(p.statePath(kind), strings.Repeat("\xff{garbage", 1000)[:max(len(p.Read(p.statePath(kind))), 8)])
			}},
		)
	}
	return list
}

func sideFiles() []string { return []string{".prompts", ".usage", ".segments", ".untracked"} }

// statePath returns the path of a file of the main session's record.
func (p *play) statePath(kind string) string {
	dir := filepath.Join(p.CommonDir(), "entire-sessions")
	if slices.Contains(sideFiles(), kind) {
		dir = filepath.Join(dir, "side")
	}
	return filepath.Join(dir, p.main().ID+kind)
}

// own returns a path in our folder in the repository.
func (p *play) own(names ...string) string {
	return filepath.Join(append([]string{p.CommonDir(), "entire"}, names...)...)
}

func (p *play) remove(path string) {
	if err := os.RemoveAll(path); err != nil {
		p.TB.Fatalf("remove: %v", err)
	}
}

// cut truncates a file to its first half.
func (p *play) cut(path string) {
	text := p.Read(path)
	p.Write(path, text[:len(text)/2])
}

// TestDamagedRecordsDoNotBlockWork damages the records of a session, whose transcript has
// several segments, and continues the work.
func TestDamagedRecordsDoNotBlockWork(t *testing.T) { //nolint:tparallel // one repository for all
	t.Parallel()
	testkit.Long(t, "22 times damage, and the hooks after it")
	root := t.TempDir()
	ready := newPlay(t, root, programDir(t), "plain")
	ready.turn("main", "a.txt")
	ready.main().Prompt("Please write b.txt at length.")
	ready.writes("main", "b.txt")
	for range 4 {
		ready.bash("head -c 90000 /dev/zero | tr '\\0' 'x'")
	}
	ready.main().Stop()
	ready.git("add", "a.txt")
	tape := record(t, root)
	for _, d := range damages() {
		t.Run(d.name, func(t *testing.T) {
			tape.rewind(t)
			p := ready.copyFor(t)
			d.do(p)
			p.commits("-m", "a")
			if said := p.said; strings.Contains(said, "entire:") {
				t.Errorf("the commit said %q", said)
			}
			if linked := len(p.Trailers("HEAD")) == 1; linked == d.unlinked {
				t.Errorf("linked: %v", linked)
			}
			if d.unlinked {
				p.excused = []string{"a.txt"}
			}
			faults := p.dangling()
			p.finish()
			faults = append(faults, slices.DeleteFunc(p.faults(), func(f string) bool { return strings.HasSuffix(f, ".corrupt") })...)
			if files := p.Checkpoint("HEAD").Summary.FilesTouched; !slices.Equal(files, []string{"b.txt", "final.txt"}) {
				faults = append(faults, "the last checkpoint has "+strings.Join(files, " "))
			}
			slot := p.Checkpoint("HEAD").Slot(t, p.main().ID)
			if got, want := strings.Count(slot.Transcript, "\n")+1, len(p.main().Transcript.Lines()); got < want-4 {
				t.Errorf("the last checkpoint has %d lines of %d", got, want)
			}
			if len(slot.Prompts) != 3 {
				t.Errorf("prompts are %q", slot.Prompts)
			}
			if len(faults) > 0 {
				t.Errorf("%s\nlog:\n%s", strings.Join(faults, "\n"), p.complaints())
			}
		})
	}
}

// TestLockHeldTooLong: commits are made, each with its trailer, while another process holds the
// lock. Their checkpoints are written after the lock is released.
func TestLockHeldTooLong(t *testing.T) {
	t.Parallel()
	for _, after := range testkit.ShortOf(nextHooks(), 1) {
		t.Run(after.name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t, t.TempDir(), programDir(t), "plain")
			p.Write(".entire/settings.local.json", `{"hooks": {"lock_timeout": "50ms"}}`)
			p.turn("main", "a.txt", "b.txt", "c.txt")
			lock, err := disk.AcquireLock(t.Context(), p.own("lock"))
			if err != nil {
				t.Fatal(err)
			}
			env := p.Env
			p.Env = env.With("ENTIRE_NO_DETACH=0")
			for _, path := range []string{"a.txt", "b.txt"} {
				p.git("add", path)
				p.commits("-m", path)
				if len(p.Trailers("HEAD")) != 1 || strings.Count(p.said, "entire: ") != 1 {
					t.Errorf("trailers %v, said %q", p.Trailers("HEAD"), p.said)
				}
			}
			p.Env = env
			if err := lock.Unlock(); err != nil {
				t.Fatal(err)
			}
			after.run(p)
			p.awaitChildren() // the hook or the children have written the checkpoints
			faults := p.dangling()
			p.finish()
			if faults = append(faults, p.faults()...); len(faults) > 0 {
				t.Errorf("%s\nlog:\n%s", strings.Join(faults, "\n"), p.complaints())
			}
		})
	}
}

// TestLockHeldForAWhile: the detached child waits for the lock and writes the commit's
// checkpoint, without any other hook.
func TestLockHeldForAWhile(t *testing.T) {
	t.Parallel()
	p := newPlay(t, t.TempDir(), programDir(t), "plain")
	p.Write(".entire/settings.local.json", `{"hooks": {"lock_timeout": "50ms"}}`)
	p.Env = p.Env.With("ENTIRE_NO_DETACH=0")
	p.turn("main", "a.txt")
	lock, err := disk.AcquireLock(t.Context(), p.own("lock"))
	if err != nil {
		t.Fatal(err)
	}
	p.git("add", "a.txt")
	p.commits("-m", "a")
	if len(p.dangling()) == 0 {
		t.Error("the checkpoint is there though the lock is held")
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for len(p.dangling())+len(p.journal()) > 0 {
		if ctx.Err() != nil {
			t.Fatalf("no child has written it: %v\n%s", p.dangling(), p.Log())
		}
		testkit.Pass(t, filepath.Join(p.root, "tmp"), 50*time.Millisecond)
	}
	p.awaitChildren()
}

// awaitChildren waits until no process runs in the repository, on systems with /proc.
func (p *play) awaitChildren() {
	p.TB.Helper()
	for range 400 {
		busy := false
		links, _ := filepath.Glob("/proc/[0-9]*/cwd")
		for _, link := range links {
			dir, err := os.Readlink(link)
			busy = busy || err == nil && strings.HasPrefix(dir, p.root)
		}
		if !busy {
			return
		}
		testkit.Pass(p.TB, filepath.Join(p.root, "tmp"), 50*time.Millisecond)
	}
	p.TB.Fatalf("a child goes on and on")
}

// TestStaleRefLock: a lock file of git's that a crash left doesn't prevent a commit.
func TestStaleRefLock(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "two turns and commits")
	p := newPlay(t, t.TempDir(), programDir(t), "plain")
	p.turn("main", "a.txt", "b.txt")
	p.git("add", "a.txt")
	lock := filepath.Join(p.CommonDir(), "refs", "heads", "entire", "checkpoints", "v1.lock")
	p.Write(lock, "")
	p.commits("-m", "a")
	if strings.Count(p.said, "entire: ") != 1 || len(p.Trailers("HEAD")) != 1 {
		t.Errorf("it said %q, trailers %v", p.said, p.Trailers("HEAD"))
	}
	p.remove(lock)
	p.session("next").Start("startup")
	faults := p.dangling()
	p.finish()
	if faults = append(faults, p.faults()...); len(faults) > 0 {
		t.Errorf("%s\nlog:\n%s", strings.Join(faults, "\n"), p.complaints())
	}
}

// TestOwnFolderIsFile: if our files can't be written, the commit is made and reports that;
// afterwards everything works again.
func TestOwnFolderIsFile(t *testing.T) {
	t.Parallel()
	for _, folder := range testkit.ShortOf([]string{"entire", "entire-sessions", "entire/journal"}, 1) {
		t.Run(strings.ReplaceAll(folder, "/", " "), func(t *testing.T) {
			t.Parallel()
			p := newPlay(t, t.TempDir(), programDir(t), "plain")
			p.turn("main", "a.txt", "b.txt")
			p.git("add", "a.txt")
			path := filepath.Join(p.CommonDir(), folder)
			p.remove(path + ".away")
			renamed := os.Rename(path, path+".away")
			p.Write(path, "")
			p.commits("-m", "a")
			if len(p.Trailers("HEAD")) > 0 || folder != "entire-sessions" && !strings.Contains(p.said, "entire: ") {
				t.Errorf("trailers %v, said %q", p.Trailers("HEAD"), p.said)
			}
			p.main().Stop()
			p.excused = []string{"a.txt"}
			p.remove(path)
			if renamed == nil {
				if err := os.Rename(path+".away", path); err != nil {
					t.Fatal(err)
				}
			}
			faults := p.dangling()
			p.finish()
			if faults = append(faults, p.faults()...); len(faults) > 0 {
				t.Errorf("%s\nlog:\n%s", strings.Join(faults, "\n"), p.complaints())
			}
		})
	}
}
