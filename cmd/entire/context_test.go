package main

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
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
