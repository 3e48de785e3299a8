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

// TestEntireStartsQuickly checks that the program that git and agents start contains nothing that
// takes long to initialize.
func TestEntireStartsQuickly(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.Lines(string(out)) {
		path = strings.TrimSpace(path)
		for _, slow := range []string{"modernc.org/", "charm.land/", "github.com/spf13/", "github.com/modelcontextprotocol/"} {
			if strings.HasPrefix(path, slow) {
				t.Errorf("entire contains %s", path)
			}
		}
		if path == "net" || path == "encoding/gob" || path == "text/template" {
			t.Errorf("entire contains %s", path)
		}
	}
}

// TestProgramsApart runs a session with entire and entire-cli as they are installed, and with entire
// alone.
func TestProgramsApart(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "builds the programs")
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin+string(os.PathSeparator), ".", "../entire-cli")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	alone := t.TempDir()
	if err := os.Link(filepath.Join(bin, "entire"), filepath.Join(alone, "entire")); err != nil {
		t.Fatal(err)
	}
	repo := matrixRepo(t)
	_, others, _ := strings.Cut(repo.Env.Get("PATH"), string(os.PathListSeparator))
	for n, dir := range []string{bin, alone} {
		repo := *repo
		repo.Env = repo.Env.With("PATH=" + dir + string(os.PathListSeparator) + others)
		s := testkit.NewSession(&repo, fmt.Sprintf("session-%d", n), filepath.Join(repo.Dir, "..", "claude"))
		file := fmt.Sprintf("file-%d.txt", n)
		s.Start("startup")
		s.Prompt("write " + file)
		s.Write(file, "one\n")
		s.Stop()
		repo.Git("add", "-A")
		repo.Git("commit", "-qm", "add "+file)
		s.End("other")
		if ids := repo.Trailers("HEAD"); len(ids) != 1 {
			t.Errorf("%s: trailers %q", dir, ids)
		}
	}
	repo.Env = repo.Env.With("PATH=" + bin + string(os.PathListSeparator) + others)
	if out := repo.Entire("version"); !strings.Contains(out, "Commands: "+filepath.Join(bin, "entire-cli")+" (same build)") {
		t.Errorf("version: %s", out)
	}
	if out := repo.Entire("search", "write"); !strings.Contains(out, "file-0.txt") || !strings.Contains(out, "file-1.txt") {
		t.Errorf("search: %s", out)
	}
	cmd := exec.Command(filepath.Join(alone, "entire"), "status")
	cmd.Env, cmd.Dir = []string{"PATH=" + others, "HOME=" + alone}, repo.Dir
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "Error: the program entire-cli is neither beside entire nor on the PATH\nhint: ") {
		t.Errorf("without entire-cli: %v, %s", err, out)
	}
}
