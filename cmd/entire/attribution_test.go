package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// figureNames are the names of the figures in scripts and in metadata.
func figureNames() map[string]string {
	return map[string]string{
		"agent": "agent_lines", "own": "session_lines",
		"added": "human_added", "modified": "human_modified", "removed": "human_removed", "replaced": "human_replaced",
		"agent-removed": "agent_removed", "agent-replaced": "agent_replaced",
		"agent-files": "agent_files", "human-files": "human_files", "unknown": "unknown_lines",
	}
}

// cmdAttributed asserts a commit's attribution, with 0 for the figures that aren't named, and
// that the figures add up to git's own count: attributed [-s NAME] REV FIGURE=N...
func cmdAttributed(s *story, args []string) {
	name, args := named(args)
	got := s.repo().Checkpoint(args[0]).Slot(scriptTB{s.ts}, s.session(name).ID).Meta.Attribution
	if got == nil {
		s.ts.Fatalf("%s has no attribution", args[0])
	}
	want := map[string]string{}
	for _, arg := range args[1:] {
		figure, n, _ := strings.Cut(arg, "=")
		if figureNames()[figure] == "" {
			s.ts.Fatalf("no figure %q", figure)
		}
		want[figure] = n
	}
	var have, wanted []string
	for _, figure := range slices.Sorted(maps.Keys(figureNames())) {
		have = append(have, figure+"="+strconv.Itoa(int(got[figureNames()[figure]])))
		n := "0"
		if want[figure] != "" {
			n = want[figure]
		}
		wanted = append(wanted, figure+"="+n)
	}
	s.equal("attribution", have, wanted)
	added, removed := s.numstat(args[0])
	sum := func(names ...string) (n int) {
		for _, name := range names {
			n += int(got[name])
		}
		return n
	}
	s.equal("sums", []string{
		strconv.Itoa(int(got["total_committed"])),
		strconv.Itoa(sum("agent_lines", "human_added", "human_modified", "unknown_lines")),
		strconv.Itoa(sum("agent_removed", "agent_replaced", "human_removed", "human_replaced")),
	}, []string{strconv.Itoa(added), strconv.Itoa(added), strconv.Itoa(removed)})
}

// numstat returns the numbers of lines that a commit added and removed, as counted by git.
func (s *story) numstat(rev string) (added, removed int) {
	for line := range strings.Lines(s.repo().Git("show", "--numstat", "--format=", "-M", rev, "--", ".", ":!.entire", ":!.claude/settings.json")) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[0] == "-" {
			continue
		}
		a, errA := strconv.Atoi(fields[0])
		r, errR := strconv.Atoi(fields[1])
		s.ts.Check(errA)
		s.ts.Check(errR)
		added, removed = added+a, removed+r
	}
	return added, removed
}
