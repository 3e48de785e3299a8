package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// equal fails the script unless the lists are equal.
func (s *story) equal(what string, got, want []string) {
	for i := range want {
		want[i] = testkit.InJSON(unescape(want[i]))
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		s.ts.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// cmdTrailer prints the checkpoint ids in the trailers of a commit.
func cmdTrailer(s *story, args []string) {
	_, _ = s.ts.Stdout().Write([]byte(strings.Join(s.repo().Trailers(arg(args, 0, "HEAD")), "\n") + "\n"))
}

// cmdLinked asserts that a commit has N (one) trailers in the trailer block,
// and a stored checkpoint for each: linked REV [N].
func cmdLinked(s *story, args []string) {
	repo, rev := s.repo(), arg(args, 0, "HEAD")
	want, err := strconv.Atoi(arg(args, 1, "1"))
	s.ts.Check(err)
	trailers, body, _ := strings.Cut(repo.Git("log", "-1", "--format=%(trailers:key=Entire-Checkpoint,valueonly)%x00%B", rev, "--"), "\x00")
	ids := strings.Fields(trailers)
	if len(ids) != want {
		s.ts.Fatalf("%s has %d trailers %v, want %d\n%s\nlog:\n%s", rev, len(ids), ids, want, body, repo.Log())
	}
	stored := repo.Stored()
	for _, id := range ids {
		if stored[id] == nil {
			s.ts.Fatalf("%s names checkpoint %s, which isn't stored\nlog:\n%s", rev, id, repo.Log())
		}
	}
	if strings.Count("\n"+body, "\nEntire-Checkpoint") != want {
		s.ts.Fatalf("trailers outside the trailer block, or twice:\n%s", body)
	}
}

// cmdUnlinked asserts that a commit's message has no trailer of ours.
func cmdUnlinked(s *story, args []string) {
	body := s.repo().Git("log", "-1", "--format=%B", arg(args, 0, "HEAD"))
	if strings.Contains(body, "Entire-") {
		s.ts.Fatalf("%s has a trailer:\n%s", arg(args, 0, "HEAD"), body)
	}
}

// cmdSame asserts that two commits have the same ids: same REV REV.
func cmdSame(s *story, args []string) {
	repo := s.repo()
	s.equal("ids", repo.Trailers(args[0]), repo.Trailers(args[1]))
}

// cmdCheckpoint asserts a commit's files_touched: checkpoint REV PATH...
func cmdCheckpoint(s *story, args []string) {
	s.equal("files_touched", s.repo().Checkpoint(args[0]).Summary.FilesTouched, args[1:])
}

// cmdSlot asserts one session's files in a checkpoint: slot NAME REV PATH...
func cmdSlot(s *story, args []string) {
	slot := s.repo().Checkpoint(args[1]).Slot(scriptTB{s.ts}, s.session(args[0]).ID)
	s.equal("files_touched of "+args[0], slot.Meta.FilesTouched, args[2:])
}

// cmdSessions asserts which sessions a checkpoint holds: sessions REV NAME...
func cmdSessions(s *story, args []string) {
	want := make([]string, 0, len(args))
	for _, name := range args[1:] {
		want = append(want, s.session(name).ID)
	}
	got := s.repo().Checkpoint(args[0]).Sessions()
	slices.Sort(want)
	slices.Sort(got)
	s.equal("sessions", got, want)
}

// cmdPrompts asserts a session's prompts in a checkpoint: prompts [-s NAME] REV TEXT...
func cmdPrompts(s *story, args []string) {
	name, args := named(args)
	slot := s.repo().Checkpoint(args[0]).Slot(scriptTB{s.ts}, s.session(name).ID)
	s.equal("prompts", slot.Prompts, args[1:])
}

// cmdTranscript asserts that a checkpoint holds the live transcript's lines, all of them, the
// first N, or all but the last N: transcript [-s NAME] REV [N|-N]. Bulky records of the agent
// itself may be shortened and secrets are redacted; the rest is unchanged.
func cmdTranscript(s *story, args []string) {
	name, args := named(args)
	session := s.session(name)
	live := session.Transcript.Lines()
	if len(args) > 1 {
		n, err := strconv.Atoi(args[1])
		s.ts.Check(err)
		if n < 0 {
			n += len(live)
		}
		live = live[:n]
	}
	text := s.repo().Checkpoint(args[0]).Slot(scriptTB{s.ts}, session.ID).Transcript
	got := strings.Split(text, "\n")
	if len(got) != len(live) {
		s.ts.Fatalf("the stored transcript has %d lines, the live one %d\nlast stored: %.300s\nlast live: %.300s",
			len(got), len(live), got[len(got)-1], live[len(live)-1])
	}
	for i := range live {
		if got[i] != live[i] && !s.mayRepresent(got[i], live[i]) {
			s.ts.Fatalf("line %d is\n%.400s\nlive\n%.400s", i, got[i], live[i])
		}
	}
}

// cmdSays asserts that a checkpoint's transcript contains each text: says [-s NAME] REV TEXT...
func cmdSays(s *story, args []string) {
	name, args := named(args)
	transcript := s.repo().Checkpoint(args[0]).Slot(scriptTB{s.ts}, s.session(name).ID).Transcript
	for _, text := range args[1:] {
		if !strings.Contains(transcript, text) {
			s.ts.Fatalf("the transcript hasn't %q; its end is\n%.2000s", text, transcript[max(0, len(transcript)-2000):])
		}
	}
}

// mayRepresent reports whether the stored line may represent the live one.
func (s *story) mayRepresent(got, live string) bool {
	redacted := strings.NewReplacer(s.ts.Getenv("SECRET"), "REDACTED", s.ts.Getenv("AWS_SECRET"), "REDACTED").Replace(live)
	if got == redacted {
		return true
	}
	var a, b map[string]any
	if json.Unmarshal([]byte(got), &a) != nil || json.Unmarshal([]byte(live), &b) != nil {
		return false
	}
	bulk := false
	for _, mark := range []string{`"skill_listing"`, `"prompt_snapshot"`, `"api-request`, `_listing_delta"`, `"deferred_tools_delta"`} {
		bulk = bulk || strings.Contains(live, mark)
	}
	return bulk && a["type"] == b["type"] && a["uuid"] == b["uuid"] && a["sessionId"] == b["sessionId"]
}

// cmdTokens asserts that the shares of the commits' checkpoints add up to the
// session's total, each message counted once: tokens [-s NAME] REV... (oldest
// first).
func cmdTokens(s *story, args []string) {
	name, revs := named(args)
	session := s.session(name)
	var sum testkit.Usage
	var last testkit.Slot
	for _, rev := range revs {
		repo := s.repo()
		if dir, in, ok := strings.Cut(rev, "//"); ok {
			repo, rev = repo.At(s.ts.MkAbs(dir)), in
		}
		last = *repo.Checkpoint(rev).Slot(scriptTB{s.ts}, session.ID)
		sum = sum.Add(last.Meta.TokenUsage.Usage())
	}
	if total := last.Meta.SessionUsage.Usage(); total != sum {
		s.ts.Fatalf("shares add up to %v, session_token_usage is %v", sum, total)
	}
	if want := session.Transcript.Total(); sum != want {
		s.ts.Fatalf("tokens are %v, the transcript's messages have %v", sum, want)
	}
}

// cmdPending asserts a session's pending files: pending [-s NAME] PATH...
func cmdPending(s *story, args []string) {
	name, paths := named(args)
	got := s.repo().State(s.session(name).ID).FilesTouched
	slices.Sort(got)
	s.equal("pending files of "+name, got, paths)
}

// cmdPhase asserts a session's phase: phase [-s NAME] PHASE.
func cmdPhase(s *story, args []string) {
	name, args := named(args)
	s.equal("phase of "+name, []string{s.repo().State(s.session(name).ID).Phase}, args)
}

// cmdNoState asserts that a session has no state: nostate [-s NAME].
func cmdNoState(s *story, args []string) {
	name, _ := named(args)
	if s.repo().HasState(s.session(name).ID) {
		s.ts.Fatalf("session %s has a state", name)
	}
}

// cmdMessage asserts a commit's message without its trailer: message REV TEXT.
func cmdMessage(s *story, args []string) {
	var kept []string
	for line := range strings.Lines(s.repo().Git("log", "-1", "--format=%B", args[0])) {
		if !strings.HasPrefix(line, "Entire-Checkpoint: ") {
			kept = append(kept, line)
		}
	}
	s.equal("message", []string{strings.TrimRight(strings.Join(kept, ""), "\n")}, args[1:])
}

// cmdSubject asserts a commit's subject: subject REV TEXT.
func cmdSubject(s *story, args []string) {
	s.equal("subject", []string{s.repo().Git("log", "-1", "--format=%s", args[0])}, args[1:])
}

// cmdInvariants checks the repository against the rules of the format.
func cmdInvariants(s *story, _ []string) {
	testkit.Check(scriptTB{s.ts}, s.repo())
	s.equal("files and refs in unknown places", unknownPlaces(scriptTB{s.ts}, s.repo()), nil)
}

// cmdCheckpoints asserts how many checkpoints are stored.
func cmdCheckpoints(s *story, args []string) {
	s.equal("number of checkpoints", []string{strconv.Itoa(len(s.repo().Stored()))}, args)
}

// cmdShadows asserts how many shadow branches there are.
func cmdShadows(s *story, args []string) {
	names := s.repo().Shadows()
	if strconv.Itoa(len(names)) != args[0] {
		s.ts.Fatalf("shadow branches %v, want %s", names, args[0])
	}
}

// cmdShadow asserts a path in the only shadow branch: shadow PATH MODE TEXT,
// or shadow PATH none.
func cmdShadow(s *story, args []string) {
	repo := s.repo()
	names := repo.Shadows()
	if len(names) != 1 {
		s.ts.Fatalf("shadow branches %v, want one", names)
	}
	entry := repo.Git("ls-tree", "--full-tree", names[0], "--", args[0])
	if args[1] == "none" {
		s.equal("entry", []string{entry}, []string{""})
		return
	}
	s.equal("mode", []string{strings.SplitN(entry, " ", 2)[0]}, args[1:2])
	s.equal("content", []string{repo.Git("cat-file", "blob", names[0]+":"+args[0])}, args[2:3])
}

// cmdLogged asserts that the worktree's log contains each text.
func cmdLogged(s *story, args []string) {
	log := s.repo().Log()
	for _, text := range args {
		if !strings.Contains(log, text) {
			s.ts.Fatalf("the log hasn't %q:\n%s", text, log)
		}
	}
}

// cmdCleanOf asserts that none of our records contains a text, except the stored contents of
// the user's files: clean-of TEXT. It reads the stored checkpoints, the shadow branches'
// messages and metadata, the states, and .entire.
func cmdCleanOf(s *story, args []string) {
	repo, text := s.repo(), args[0]
	for id, checkpoint := range repo.Stored() {
		for path, content := range checkpoint.Files {
			if bytes.Contains(content, []byte(text)) {
				s.ts.Fatalf("checkpoint %s holds it in %s", id, path)
			}
		}
	}
	for _, ref := range append(repo.Shadows(), testkit.Branch) {
		if repo.TryGit("rev-parse", "-q", "--verify", ref).Code != 0 {
			continue
		}
		if strings.Contains(repo.Git("log", "--format=%B", ref), text) {
			s.ts.Fatalf("a commit message on %s holds it", ref)
		}
		found := repo.TryGit("grep", "-l", "-F", "-e", text, ref, "--", ".entire")
		if found.Code == 0 {
			s.ts.Fatalf("metadata on %s holds it: %s", ref, found.Stdout)
		}
	}
	for _, dir := range []string{
		filepath.Join(repo.CommonDir(), "entire-sessions"), filepath.Join(repo.CommonDir(), "entire"), filepath.Join(repo.Root(), ".entire"),
	} {
		s.grepTree(dir, text)
	}
}

// bandFile matches the files of a store that hold contents of the user's files, and their
// indexes.
var bandFile = regexp.MustCompile(`/entire/store/(bands/.*|checkpoints/v[0-9]+/[0-9]+(\.raw)?|dedupe|stat-[0-9a-f]+)$`)

func (s *story) grepTree(dir, text string) {
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || bandFile.MatchString(path) {
			return nil //nolint:nilerr // a folder that isn't there holds nothing
		}
		data, err := os.ReadFile(path)
		if err == nil && bytes.Contains(data, []byte(text)) {
			s.ts.Fatalf("%s holds it", path)
		}
		return err
	})
	s.ts.Check(err)
}
