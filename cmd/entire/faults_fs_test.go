//go:build fs

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// volume is a file system in a file, mounted for one test.
type volume struct {
	kind string
	size int64 // in MB
	mkfs []string
}

func volumes() []volume {
	return []volume{
		{"ext4", 16, []string{"mkfs.ext4", "-q", "-m", "0"}},
		{"xfs", 320, []string{"mkfs.xfs", "-q"}},
		{"btrfs", 256, []string{"mkfs.btrfs", "-q"}},
	}
}

// mount creates the file system and mounts it at dir.
func (v volume) mount(t *testing.T, dir string) {
	t.Helper()
	if _, err := exec.LookPath(v.mkfs[0]); err != nil {
		t.Skipf("no %s", v.mkfs[0])
	}
	image := filepath.Join(t.TempDir(), "image")
	file, err := os.Create(image)
	if err == nil {
		err = file.Truncate(v.size << 20)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	system(t, append(v.mkfs, image)...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-o", "loop", image, dir).CombinedOutput(); err != nil {
		t.Skipf("%s can't be mounted here: %s", v.kind, out)
	}
	t.Cleanup(func() { system(t, "umount", "--lazy", dir) })
}

// system runs a program that must succeed.
func system(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
}

// TestFSKinds: a recorded turn and split commits on each file system.
func TestFSKinds(t *testing.T) {
	for _, v := range volumes() {
		t.Run(v.kind, func(t *testing.T) {
			root := t.TempDir()
			v.mount(t, filepath.Join(root, "w"))
			p := newPlay(t, root, programDir(t), "plain")
			p.main().Start("startup")
			p.turn("main", "a.txt", "b.txt", "c.txt")
			for _, path := range []string{"a.txt", "b.txt"} {
				p.git("add", path)
				p.commits("-m", path)
			}
			p.main().Prompt("Please commit c.txt.")
			p.bash("git add c.txt && git commit -q -m c.txt && echo by the shell > shell.txt")
			p.changes("main", "shell.txt")
			p.main().Stop()
			p.ends(t)
			want := "[a.txt [main: a.txt] b.txt [main: b.txt] c.txt [main: c.txt] the rest [main: final.txt shell.txt]]"
			if got := fmt.Sprint(p.ledger()[2:]); got != want {
				t.Errorf("recorded %s, want %s", got, want)
			}
		})
	}
}

// ends finishes the play and reports its faults.
func (p *play) ends(t *testing.T) {
	t.Helper()
	faults := p.dangling()
	p.finish()
	if faults = append(faults, p.faults()...); len(faults) > 0 {
		t.Errorf("%s\nlog:\n%s", strings.Join(faults, "\n"), p.complaints())
	}
}

// fillScript fills the file system that holds the worktree, to the last block.
const fillScript = `
dd if=/dev/zero of=../fill bs=64k 2>/dev/null
sync ../fill
dd if=/dev/zero of=../fill.rest bs=512 2>/dev/null
sync ../fill.rest
n=0
while [ $n -lt 200 ] && echo x >../fill.$n 2>/dev/null && [ -s ../fill.$n ]; do n=$((n + 1)); done
true
`

const freeScript = `rm -f ../fill*; sync .`

func (p *play) fill() { p.Sh(fillScript) }
func (p *play) free() { p.Sh(freeScript) }

// full returns a play on a volume, in the state right before a hook.
func full(t *testing.T, v volume) *play {
	t.Helper()
	root := t.TempDir()
	v.mount(t, filepath.Join(root, "w"))
	p := newPlay(t, root, programDir(t), "plain")
	p.main().Installed = false
	p.turn("main", "a.txt", "b.txt")
	return p
}

// TestFSFullInAgentHooks: no space is left while an agent's hook runs.
func TestFSFullInAgentHooks(t *testing.T) {
	hooks := map[string]func(p *play){
		"session-start":      func(p *play) { p.main().Start("resume") },
		"user-prompt-submit": func(p *play) { p.main().Prompt("Please go on.") },
		"stop":               func(p *play) { p.main().Stop() },
		"session-end":        func(p *play) { p.main().End("logout") },
	}
	for _, v := range volumes()[:2] {
		for name, run := range hooks {
			t.Run(v.kind+" "+name, func(t *testing.T) {
				p := full(t, v)
				if name != "user-prompt-submit" {
					p.main().Prompt("Please write c.txt.")
					p.writes("main", "c.txt")
				}
				p.fill()
				run(p)
				p.free()
				p.ends(t)
			})
		}
	}
}

// TestFSFullInCommitHooks: no space is left while a git hook runs. The commit is made and
// reports what is missing.
func TestFSFullInCommitHooks(t *testing.T) {
	for _, v := range volumes()[:2] {
		t.Run(v.kind+" prepare-commit-msg", func(t *testing.T) {
			p := full(t, v)
			p.hook("prepare-commit-msg.pre-entire", fillScript)
			p.hook("commit-msg.pre-entire", freeScript)
			p.git("add", "a.txt")
			p.commits("-m", "a")
			if len(p.Trailers("HEAD")) > 0 || !strings.Contains(p.said, "entire: this commit is not linked") {
				t.Errorf("trailers %v, said %q", p.Trailers("HEAD"), p.said)
			}
			p.excused = []string{"a.txt"}
			p.unhook()
			p.ends(t)
		})
		t.Run(v.kind+" post-commit", func(t *testing.T) {
			p := full(t, v)
			p.hook("reference-transaction", `[ "$1" != committed ] || { `+fillScript+` }`)
			p.git("add", "a.txt")
			p.commits("-m", "a")
			if len(p.Trailers("HEAD")) != 1 || !strings.Contains(p.said, "entire: checkpoint for ") {
				t.Errorf("trailers %v, said %q", p.Trailers("HEAD"), p.said)
			}
			if len(p.dangling()) == 0 {
				t.Error("the disk was not full")
			}
			p.unhook()
			p.free()
			p.session("next").Start("startup")
			p.ends(t)
		})
	}
}

// hook writes a hook of the user's. It runs in the worktree's root.
func (p *play) hook(name, script string) {
	p.TB.Helper()
	path := filepath.Join(p.CommonDir(), "hooks", name)
	if err := testkit.WriteProgram(path, "#!/bin/sh\n"+script); err != nil {
		p.TB.Fatalf("hook: %v", err)
	}
}

// unhook removes the user's hooks.
func (p *play) unhook() {
	for _, name := range []string{"prepare-commit-msg.pre-entire", "commit-msg.pre-entire", "reference-transaction"} {
		p.remove(filepath.Join(p.CommonDir(), "hooks", name))
	}
}

// TestFSReadOnly: a folder of ours can't be written during a turn and a commit.
func TestFSReadOnly(t *testing.T) {
	for _, c := range []struct {
		folder string
		linked bool // the commit gets its trailer, and its checkpoint at once
		said   string
	}{
		{"../.entire", true, ""},
		{"entire", false, "entire: this commit is not linked"},
		{"entire-sessions", true, "entire: the checkpoint of HEAD is written, but its sessions are not updated; the next hook tries again: "},
	} {
		t.Run(filepath.Base(c.folder), func(t *testing.T) {
			p := newPlay(t, t.TempDir(), programDir(t), "plain")
			p.main().Installed = false
			p.turn("main", "a.txt", "b.txt")
			folder := filepath.Join(p.CommonDir(), c.folder)
			system(t, "mount", "--bind", folder, folder)
			t.Cleanup(func() { _ = exec.Command("umount", "--lazy", folder).Run() })
			system(t, "mount", "-o", "remount,ro,bind", folder)
			if err := os.WriteFile(filepath.Join(folder, "probe"), nil, 0o600); err == nil {
				t.Fatal("it can be written")
			}

			p.main().Start("resume")
			p.main().Prompt("Please write c.txt.")
			p.writes("main", "c.txt")
			p.main().Stop()
			p.git("add", "a.txt")
			p.commits("-m", "a")
			if linked := len(p.Trailers("HEAD")) == 1; linked != c.linked {
				t.Errorf("linked: %v, said %q", linked, p.said)
			}
			if dangling := p.dangling(); len(dangling) > 0 {
				t.Errorf("the trailer has no checkpoint at once: %v, said %q", dangling, p.said)
			}
			want := strings.ReplaceAll(c.said, "HEAD", p.Git("rev-parse", "HEAD")[:7])
			if said := strings.Contains(p.said, "entire: "); said != (want != "") || !strings.Contains(p.said, want) {
				t.Errorf("it said %q, want %q", p.said, want)
			}
			if !c.linked {
				p.excused = []string{"a.txt"}
			}
			system(t, "umount", "--lazy", folder)
			p.session("next").Start("startup")
			p.ends(t)
		})
	}
}

// TestFSReadOnlyWhole: hooks exit 0 if nothing at all can be written.
func TestFSReadOnlyWhole(t *testing.T) {
	p := newPlay(t, t.TempDir(), programDir(t), "plain")
	p.main().Installed = false
	p.turn("main", "a.txt")
	root := filepath.Join(p.root, "w")
	system(t, "mount", "--bind", root, root)
	t.Cleanup(func() { _ = exec.Command("umount", "--lazy", root).Run() })
	system(t, "mount", "-o", "remount,ro,bind", root)
	p.main().Start("resume")
	p.main().Prompt("Please go on.")
	p.main().Stop()
	p.main().End("logout")
	if result := (testkit.Call{Dir: p.Dir, Env: p.Env, Name: "entire", Args: []string{"hooks", "git", "post-commit"}}).Run(t); result.Code != 0 {
		t.Errorf("post-commit: %+v", result)
	}
	system(t, "umount", "--lazy", root)
	p.ends(t)
}
