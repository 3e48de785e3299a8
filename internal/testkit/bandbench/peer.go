package main

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// peer is a tool that takes snapshots. The first one is agentfs.
type peer struct {
	tool     string
	prepare  func(b *bench) // makes an empty store
	snapshot func(b *bench) command
	again    func(b *bench) command // takes a snapshot, which may be skipped if nothing has changed
	extract  func(b *bench) command // extracts the last node_modules into the folder back
}

func (b *bench) peers() []peer {
	list := []peer{{
		tool:     ours,
		prepare:  func(b *bench) { b.do(b.agentfs("init", "bench", "--mount", b.tree())) },
		snapshot: func(b *bench) command { return b.agentfs("checkpoint", "create", "bench") },
		again:    func(b *bench) command { return b.agentfs("checkpoint", "--auto") },
	}}
	if b.has(restic) {
		backup := func(b *bench) command {
			return command{b.work, b.peerEnv(), restic, []string{"backup", "--quiet", "tree"}}
		}
		list = append(list, peer{
			tool:     restic,
			prepare:  func(b *bench) { b.do(command{b.work, b.peerEnv(), restic, []string{"init"}}) },
			snapshot: backup, again: backup,
			extract: func(b *bench) command {
				return command{b.work, b.peerEnv(), restic, []string{"restore", "latest", "--quiet", "--target", "back", "--include", "tree/node_modules"}}
			},
		})
	}
	if b.has(borg) {
		create := func(b *bench) command {
			return command{b.work, b.peerEnv(), borg, []string{"create", "::{utcnow:%s%f}", "tree"}}
		}
		list = append(list, peer{
			tool:     borg,
			prepare:  func(b *bench) { b.do(command{b.work, b.peerEnv(), borg, []string{"init", "-e", "none"}}) },
			snapshot: create, again: create,
			extract: func(b *bench) command {
				b.Helper()
				last := testkit.Call{Dir: b.work, Env: b.peerEnv(), Name: borg, Args: []string{"list", "--last", "1", "--short"}}.Must(b)
				return command{
					filepath.Join(b.work, "back"), b.peerEnv(), borg,
					[]string{"extract", "::" + strings.TrimSpace(last), "tree/node_modules"},
				}
			},
		})
	}
	return list
}

// peerEnv is the environment of restic and borg.
func (b *bench) peerEnv() testkit.Env {
	return b.env().With(
		"RESTIC_PASSWORD=x", "RESTIC_REPOSITORY="+filepath.Join(b.work, "store-restic"),
		"RESTIC_CACHE_DIR="+filepath.Join(b.work, "store-restic", "cache-of-it"),
		"BORG_REPO="+filepath.Join(b.work, "store-borg"), "BORG_BASE_DIR="+filepath.Join(b.work, "store-borg.base"),
		"BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes", "BORG_RELOCATED_REPO_ACCESS_IS_OK=yes",
	)
}

// agentfs returns a call of agentfs for the tree.
func (b *bench) agentfs(args ...string) command {
	env := b.env().With("AGENTFS_HOME=" + filepath.Join(b.work, "store-agentfs"))
	if args[0] != "init" {
		args = append([]string{"--store", "bench"}, args...)
	}
	return command{b.work, env, b.bin, args}
}

// take takes a snapshot with agentfs and returns its version.
func (b *bench) take() string {
	b.Helper()
	b.do(b.agentfs("checkpoint", "create", "bench"))
	c := b.agentfs("checkpoint", "list", "--limit", "1", "--json")
	said := testkit.Call{Dir: c.dir, Env: c.env, Name: c.name, Args: c.args}.Must(b)
	var list []struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal([]byte(said), &list); err != nil || len(list) != 1 {
		b.Fatalf("checkpoint list says %q", said)
	}
	return list[0].Version
}

// allocated returns the allocated size of a folder, in MB.
func (b *bench) allocated(dir string) float64 {
	b.Helper()
	said := testkit.Call{Dir: b.work, Env: b.env(), Name: "du", Args: []string{"-sk", dir}}.Must(b)
	kib, err := strconv.ParseFloat(strings.Fields(said)[0], 64)
	b.Must(err)
	return kib / (1 << 10)
}
