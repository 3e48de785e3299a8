package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestAttackHungGit: a git command, a filter or a file system monitor that ignores SIGTERM and
// SIGINT and never exits.
func TestAttackHungGit(t *testing.T) {
	testkit.Long(t, "git runs until its deadline")
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	// hung writes a program that hangs if its arguments match, as long as the file hostile
	// exists.
	hung := func(p *play, name, pattern string) (dir string, lift func()) {
		dir = filepath.Join(p.root, "hung")
		hostile := filepath.Join(dir, "hostile")
		p.Write(hostile, "")
		script := fmt.Sprintf(`#!/bin/sh
trap '' TERM INT
case " $* " in %s) while [ -e '%s' ]; do sleep 0.1; done; exit 1 ;; esac
exec '%s' "$@"
`, pattern, hostile, git)
		if err := testkit.WriteProgram(filepath.Join(dir, name), script); err != nil {
			t.Fatal(err)
		}
		return dir, func() { p.remove(hostile) }
	}
	var all []siege
	for _, command := range []string{"status", "update-ref"} {
		all = append(all, siege{name: command, locked: command == "update-ref", set: func(_ *testing.T, p *play) func() {
			dir, lift := hung(p, "git", fmt.Sprintf(`*" %s "*`, command))
			p.fault = p.fault.With("PATH=" + dir + string(os.PathListSeparator) + p.Env.Get("PATH"))
			return lift
		}})
	}
	for name, key := range map[string]string{"filter": "filter.hung.clean", "process": "filter.hung.process", "monitor": "core.fsmonitor"} {
		all = append(all, siege{name: name, uncommitted: true, set: func(_ *testing.T, p *play) func() {
			dir, lift := hung(p, "helper", "*")
			p.Write(".git/info/attributes", "*.txt filter=hung\n")
			p.Git("config", key, filepath.Join(dir, "helper"))
			return func() {
				lift()
				p.Git("config", "--unset", key)
				p.remove(p.Path(".git/info/attributes"))
			}
		}})
	}
	withstandAll(t, attackTries(2), all)
}
