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
	"strconv"
	"strings"
)

// sample has the sessions of folders of transcripts and of repositories with checkpoints.
type sample struct {
	sessions []*transcript
}

// load reads the sessions of several folders, sorted by their start.
func load(ctx context.Context, dirs ...string) (sample, error) {
	var s sample
	longest := map[string][][]byte{}
	for _, dir := range dirs {
		read := files
		if exec.CommandContext(ctx, "git", "-C", dir, "rev-parse", "-q", "--verify", "entire/checkpoints/v1").Run() == nil {
			read = func(dir string, use func([]byte)) error { return stored(ctx, dir, use) }
		}
		err := read(dir, func(raw []byte) {
			lines := linesOf(raw)
			if id := idOf(lines); id != "" && len(lines) > len(longest[id]) {
				longest[id] = lines
			}
		})
		if err != nil {
			return s, err
		}
	}
	for _, lines := range longest {
		if t := read(lines); t.root != "" && len(t.requests()) > 0 {
			s.sessions = append(s.sessions, t)
		}
	}
	slices.SortFunc(s.sessions, func(a, b *transcript) int {
		if c := a.began.Compare(b.began); c != 0 {
			return c
		}
		return strings.Compare(a.id, b.id)
	})
	return s, nil
}

func linesOf(raw []byte) [][]byte {
	var lines [][]byte
	for line := range bytes.Lines(raw) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

// idOf returns the id of the first line that has one.
func idOf(lines [][]byte) string {
	for _, line := range lines {
		if r, ok := parse(line); ok && r.SessionID != "" {
			return r.SessionID
		}
	}
	return ""
}

// files reads the transcripts in a folder and those below it.
func files(dir string, use func([]byte)) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".jsonl" {
			return err
		}
		raw, err := os.ReadFile(name) //nolint:gosec // a folder of samples that the caller names
		use(raw)
		return err
	})
}

var transcriptName = regexp.MustCompile(`^full\.jsonl(\.\d+)?$`)

// stored reads the transcripts of a repository's checkpoints. The files of one transcript are
// joined; one with a missing object is left out.
func stored(ctx context.Context, dir string, use func([]byte)) error {
	listed, err := exec.CommandContext(ctx, "git", "-C", dir, "ls-tree", "-r", "-z", "entire/checkpoints/v1").Output()
	if err != nil {
		return fmt.Errorf("list the checkpoints of %s: %w", dir, err)
	}
	parts := map[string][]string{} // objects by folder
	var folders []string
	var objects strings.Builder
	for entry := range strings.SplitSeq(string(listed), "\x00") {
		about, name, ok := strings.Cut(entry, "\t")
		if !ok || !transcriptName.MatchString(path.Base(name)) {
			continue
		}
		folder := path.Dir(name)
		if parts[folder] == nil {
			folders = append(folders, folder)
		}
		object := strings.Fields(about)[2]
		parts[folder] = append(parts[folder], object) // ls-tree sorts by name
	}
	for _, folder := range folders {
		objects.WriteString(strings.Join(parts[folder], "\n") + "\n")
	}
	cmd := exec.CommandContext(ctx, "git", "-C", dir, "cat-file", "--batch")
	cmd.Stdin = strings.NewReader(objects.String())
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("read the checkpoints of %s: %w", dir, err)
	}
	next := func() ([]byte, bool) {
		head, rest, _ := bytes.Cut(out, []byte("\n"))
		fields := strings.Fields(string(head)) // hash, type, size
		out = rest
		if len(fields) < 3 || fields[1] != "blob" {
			return nil, false // missing
		}
		size, err := strconv.Atoi(fields[2])
		if err != nil || size >= len(out) {
			return nil, false
		}
		content := out[:size]
		out = out[size+1:]
		return content, true
	}
	for _, folder := range folders {
		var whole []byte
		complete := true
		for range parts[folder] {
			content, ok := next()
			complete = complete && ok
			whole = append(whole, content...)
		}
		if complete {
			use(whole)
		}
	}
	return nil
}
