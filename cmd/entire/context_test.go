package main

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/memory"
)

// contextCheckpoint is a saved context, with the fields that the script commands check.
type contextCheckpoint struct {
	id     string
	Order  int64
	Cause  string
	Status string
}

// contexts returns the saved contexts, newest first.
func (s *story) contexts() []contextCheckpoint {
	repo := s.repo()
	var list []contextCheckpoint
	for ref := range strings.FieldsSeq(repo.Git("for-each-ref", "--format=%(refname)", "refs/entire/context/")) {
		c := contextCheckpoint{id: strings.TrimPrefix(ref, "refs/entire/context/")}
		s.ts.Check(json.Unmarshal([]byte(repo.Git("cat-file", "blob", ref+":checkpoint.json")), &c))
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b contextCheckpoint) int { return cmp.Compare(b.Order, a.Order) })
	return list
}

// cmdContexts asserts the saved contexts, newest first: contexts CAUSE/STATUS...
func cmdContexts(s *story, args []string) {
	got := []string{}
	for _, c := range s.contexts() {
		got = append(got, c.Cause+"/"+c.Status)
	}
	s.equal("context checkpoints", got, args)
}

// cmdContext asserts that the newest saved context contains each text: context TEXT...
func cmdContext(s *story, args []string) {
	list := s.contexts()
	if len(list) == 0 {
		s.ts.Fatalf("no context checkpoint")
	}
	text := s.repo().Git("cat-file", "blob", "refs/entire/context/"+list[0].id+":checkpoint.json")
	for _, want := range args {
		if !strings.Contains(text, want) {
			s.ts.Fatalf("the context checkpoint has no %q:\n%s", want, text)
		}
	}
}

// cmdFact adds a fact to what an earlier session left, which changed the files and then had the
// repository as it is now: fact [-s SESSION] [-p PERSON] [-c COMMAND] KIND SPEAKER TEXT [FILE...].
func cmdFact(s *story, args []string) {
	left := memory.Session{Header: memory.Header{Format: 1, ID: "3f9a1c2b-0000-4000-8000-000000000000"}}
	command := ""
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-s":
			left.ID = args[1]
		case "-p":
			left.Person = args[1]
		case "-c":
			command = args[1]
		}
		args = args[2:]
	}
	if len(args) < 3 {
		s.ts.Fatalf("usage: fact [-s SESSION] [-p PERSON] [-c COMMAND] KIND SPEAKER TEXT [FILE...]")
	}
	repo := s.repo()
	root := strings.TrimSpace(repo.Git("rev-parse", "--show-toplevel"))
	common := strings.TrimSpace(repo.Git("rev-parse", "--path-format=absolute", "--git-common-dir"))
	path := filepath.Join(common, "entire", "memory", left.ID+".json")
	if data, err := os.ReadFile(path); err == nil {
		first, second, _ := strings.Cut(string(data), "\n")
		s.ts.Check(json.Unmarshal([]byte(first), &left.Header))
		s.ts.Check(json.Unmarshal([]byte(second), &left.Body))
	}
	left.At, left.Worktree = time.Now().UTC().Truncate(time.Second), root
	left.Branch, left.Commit = strings.TrimSpace(repo.Git("symbolic-ref", "--short", "HEAD")), strings.TrimSpace(repo.Git("rev-parse", "HEAD"))
	left.Facts = append(left.Facts, recall.Fact{
		Kind: recall.FactKind(args[0]), By: recall.Speaker(args[1]), Text: args[2], Command: command, Files: args[3:],
		At: time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC),
	})
	for _, name := range args[3:] {
		data, err := os.ReadFile(filepath.Join(root, name))
		s.ts.Check(err)
		left.Files = slices.DeleteFunc(left.Files, func(f memory.File) bool { return f.Path == name })
		left.Files = append(left.Files, memory.File{Path: name, Use: memory.Changed, Hash: disk.Digest(data)})
	}
	header, err := json.Marshal(left.Header)
	s.ts.Check(err)
	body, err := json.Marshal(left.Body)
	s.ts.Check(err)
	s.ts.Check(os.MkdirAll(filepath.Dir(path), 0o750))
	s.ts.Check(os.WriteFile(path, append(append(header, '\n'), append(body, '\n')...), 0o600))
}
