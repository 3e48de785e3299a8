package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// sample is a folder of transcripts or a repository with checkpoints.
type sample struct {
	sessions []*transcript
}

// load reads the sessions of several folders as one sample, sorted by their start.
func load(ctx context.Context, dirs ...string) (sample, error) {
	var s sample
	var raws [][]byte
	for _, dir := range dirs {
		read := files
		if exec.CommandContext(ctx, "git", "-C", dir, "rev-parse", "-q", "--verify", "entire/checkpoints/v1").Run() == nil {
			read = func(dir string) ([][]byte, error) { return stored(ctx, dir) }
		}
		more, err := read(dir)
		if err != nil {
			return s, err
		}
		raws = append(raws, more...)
	}
	longest := map[string]*transcript{}
	for _, raw := range raws {
		var lines [][]byte
		for line := range bytes.Lines(raw) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				lines = append(lines, line)
			}
		}
		t := read(lines)
		if t.id == "" || t.root == "" || len(t.requests()) == 0 {
			continue
		}
		if have, ok := longest[t.id]; !ok || len(t.lines) > len(have.lines) {
			longest[t.id] = t
		}
	}
	for _, t := range longest {
		s.sessions = append(s.sessions, t)
	}
	slices.SortFunc(s.sessions, func(a, b *transcript) int {
		if c := a.began.Compare(b.began); c != 0 {
			return c
		}
		return strings.Compare(a.id, b.id)
	})
	return s, nil
}

// files returns the transcripts in a folder and those below it.
func files(dir string) ([][]byte, error) {
	var raws [][]byte
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".jsonl" {
			return err
		}
		raw, err := os.ReadFile(name) //nolint:gosec // a folder of samples that the caller names
		raws = append(raws, raw)
		return err
	})
	return raws, err
}

var transcriptName = regexp.MustCompile(`^full\.jsonl(\.\d+)?$`)

// stored returns the transcripts of a repository's checkpoints. The files of one transcript are
// joined; one with a missing object is left out.
func stored(ctx context.Context, dir string) ([][]byte, error) {
	listed, err := exec.CommandContext(ctx, "git", "-C", dir, "ls-tree", "-r", "-z", "entire/checkpoints/v1").Output()
	if err != nil {
		return nil, fmt.Errorf("list the checkpoints of %s: %w", dir, err)
	}
	parts := map[string][]string{} // objects by folder
	var folders []string
	for entry := range strings.SplitSeq(string(listed), "\x00") {
		about, name, ok := strings.Cut(entry, "\t")
		if !ok || !transcriptName.MatchString(path.Base(name)) {
			continue
		}
		folder := path.Dir(name)
		if parts[folder] == nil {
			folders = append(folders, folder)
		}
		parts[folder] = append(parts[folder], strings.Fields(about)[2]) // ls-tree sorts by name
	}
	var raws [][]byte
	for _, folder := range folders {
		var whole []byte
		for _, object := range parts[folder] {
			raw, err := exec.CommandContext(ctx, "git", "-C", dir, "cat-file", "blob", object).Output()
			if err != nil {
				whole = nil
				break
			}
			whole = append(whole, raw...)
		}
		raws = append(raws, whole)
	}
	return raws, nil
}
