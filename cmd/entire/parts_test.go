package main

import "strings"

// cmdParts asserts that the commits' parts of the transcript are contiguous, from its beginning
// to the end of the last commit's transcript, and that each contains its text: parts [-s NAME]
// REV TEXT ... (oldest first).
func cmdParts(s *story, args []string) {
	name, args := named(args)
	at, lines := 0, 0
	for ; len(args) > 1; args = args[2:] {
		slot := s.repo().Checkpoint(args[0]).Slot(scriptTB{s.ts}, s.session(name).ID)
		transcript := strings.Split(slot.Transcript, "\n")
		lines = len(transcript)
		if slot.Meta.Start != at || slot.Meta.End < at || slot.Meta.End > lines || slot.Meta.Lines != lines {
			s.ts.Fatalf("%s has the lines %d to %d of %d (it says %d), want from %d", args[0], slot.Meta.Start, slot.Meta.End, lines, slot.Meta.Lines, at)
		}
		if part := strings.Join(transcript[at:slot.Meta.End], "\n"); !strings.Contains(part, args[1]) {
			s.ts.Fatalf("the part of %s hasn't %q:\n%.2000s", args[0], args[1], part)
		}
		at = slot.Meta.End
	}
	if at != lines {
		s.ts.Fatalf("the last part ends at line %d of %d", at, lines)
	}
}
