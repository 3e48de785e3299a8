package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// next is a hook that runs after a stopped one.
type next struct {
	name string
	run  func(p *play)
}

func nextHooks() []next {
	return []next{
		{"session-start", func(p *play) { p.session("next").Start("startup") }},
		{"commit", func(p *play) {
			p.Write("unrelated.txt", "unrelated\n")
			p.git("add", "unrelated.txt")
			p.commits("-m", "unrelated", "--", "unrelated.txt")
		}},
		{"stop", func(p *play) { p.main().Stop() }},
		{"prompt", func(p *play) { p.main().Prompt("And now?") }},
		{"session-end", func(p *play) { p.main().End("logout") }},
	}
}

// finish completes everything that was begun: one more turn, a commit of the rest, and another
// session's start.
func (p *play) finish() {
	p.main().Prompt("Please finish.")
	p.writes("main", "final.txt")
	p.main().Say("That is all.")
	p.main().Stop()
	p.git("add", "-A", "--", ".", ":!.entire", ":!.claude")
	p.commits("-m", "the rest")
	if p.alone {
		return
	}
	old := time.Now().Add(-48 * time.Hour)
	for _, path := range p.temporary() {
		_ = os.Chtimes(path, old, old)
	}
	p.session("last").Start("startup")
}

// temporary returns the leftover temporary files of ours.
func (p *play) temporary() []string {
	var found []string
	for _, root := range []string{p.CommonDir(), filepath.Join(p.Root(), ".entire")} {
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && strings.Contains(entry.Name(), ".entire-tmp-") {
				found = append(found, path)
			}
			return nil
		})
	}
	return found
}

// world returns the user's data: commits without our trailers, index and files.
func (p *play) world() string {
	p.TB.Helper()
	var b strings.Builder
	for record := range strings.SplitSeq(p.Git("log", "--format=%x01%T %an %ae %P%x02%B", "--first-parent", "HEAD"), "\x01") {
		head, body, _ := strings.Cut(record, "\x02")
		fields := strings.Fields(head)
		if len(fields) < 3 {
			continue
		}
		var kept []string
		for line := range strings.Lines(body) {
			if !strings.HasPrefix(line, "Entire-") && strings.TrimSpace(line) != "" {
				kept = append(kept, strings.TrimSpace(line))
			}
		}
		fmt.Fprintf(&b, "%s %s %d parents: %q\n", fields[0], fields[1], len(fields)-4, kept)
	}
	b.WriteString(p.Git("ls-files", "-s") + "\n")
	b.WriteString(p.Git("status", "--porcelain", "-uall", "--", ".", ":!.entire", ":!.claude") + "\n")
	return b.String()
}

// ledger returns the record of each commit, oldest first: its subject, the files of each
// session, and the number of subagents' transcripts.
func (p *play) ledger() []string {
	p.TB.Helper()
	stored := p.Stored()
	var lines []string
	for record := range strings.SplitSeq(p.Git("log", "--reverse", "--first-parent", "--format=%s%x00%(trailers:key=Entire-Checkpoint,valueonly,separator=%x2C)", "HEAD"), "\n") {
		subject, ids, _ := strings.Cut(record, "\x00")
		line := []string{subject}
		for id := range strings.SplitSeq(ids, ",") {
			if c := stored[strings.TrimSpace(id)]; c != nil {
				for _, slot := range c.Slots {
					line = append(line, fmt.Sprintf("[%s: %s]", p.nameOf(slot.Meta.SessionID), strings.Join(slot.Meta.FilesTouched, " ")))
				}
				agents := 0
				for name := range c.Files {
					if strings.HasPrefix(name, "tasks/") && strings.HasSuffix(name, ".jsonl") {
						agents++
					}
				}
				if agents > 0 {
					line = append(line, fmt.Sprintf("[subagents: %d]", agents))
				}
			}
		}
		lines = append(lines, strings.Join(line, " "))
	}
	return lines
}

func (p *play) nameOf(id string) string {
	for name, s := range p.sessions {
		if s.ID == id {
			return name
		}
	}
	return id
}

// dangling returns the commits whose checkpoint is missing or incomplete.
func (p *play) dangling() []string {
	p.TB.Helper()
	stored := p.Stored()
	var faults []string
	for record := range strings.SplitSeq(p.Git("log", "--format=%h %s%x00%(trailers:key=Entire-Checkpoint,valueonly,separator=%x2C)", "HEAD"), "\n") {
		commit, ids, _ := strings.Cut(record, "\x00")
		for id := range strings.FieldsFuncSeq(ids, func(r rune) bool { return r == ',' || r == ' ' }) {
			if c := stored[id]; c == nil {
				faults = append(faults, fmt.Sprintf("%s: no checkpoint %s", commit, id))
			} else if len(c.Slots) == 0 || c.Slots[0].Segments == 0 {
				faults = append(faults, fmt.Sprintf("%s: checkpoint %s has no transcript", commit, id))
			}
		}
	}
	return faults
}

// journal lists the decisions that are not applied.
func (p *play) journal() []string {
	entries, err := os.ReadDir(filepath.Join(p.CommonDir(), "entire", "journal"))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if !strings.Contains(e.Name(), ".entire-tmp-") {
			names = append(names, "journal entry left: "+e.Name())
		}
	}
	return names
}

// states checks that every session state can be read.
func (p *play) states() []string {
	var faults []string
	paths, _ := filepath.Glob(filepath.Join(p.CommonDir(), "entire-sessions", "*.json"))
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil || !json.Valid(data) {
			faults = append(faults, fmt.Sprintf("state %s can't be read: %v", path, err))
		}
	}
	return faults
}

// lost returns the changes of sessions that are neither in one of their checkpoints nor
// pending, except the excused ones.
func (p *play) lost() []string {
	p.TB.Helper()
	claimed := map[string]bool{}
	for _, c := range p.Stored() {
		for _, slot := range c.Slots {
			for _, path := range slot.Meta.FilesTouched {
				claimed[p.nameOf(slot.Meta.SessionID)+" "+path] = true
			}
		}
	}
	for _, path := range p.excused {
		for name := range p.sessions {
			claimed[name+" "+path] = true
		}
	}
	var faults []string
	for name, paths := range p.touched {
		for _, path := range p.pending(name) {
			claimed[name+" "+path] = true
		}
		for _, path := range paths {
			if !claimed[name+" "+path] {
				faults = append(faults, fmt.Sprintf("%s of session %s is lost", path, name))
			}
		}
	}
	sort.Strings(faults)
	return slices.Compact(faults)
}

// pending returns the pending files of a session.
func (p *play) pending(name string) []string {
	p.TB.Helper()
	data, err := os.ReadFile(filepath.Join(p.common, "entire-sessions", p.session(name).ID+".json"))
	if err != nil {
		return nil
	}
	var state testkit.State
	if err := json.Unmarshal(data, &state); err != nil {
		p.TB.Fatalf("read session state: %v", err)
	}
	return state.FilesTouched
}

// tokens checks that each message of the main session is counted in exactly one checkpoint.
func (p *play) tokens() []string {
	p.TB.Helper()
	var sum, total testkit.Usage
	for _, c := range p.Stored() {
		for _, slot := range c.Slots {
			if slot.Meta.SessionID != p.main().ID {
				continue
			}
			sum = sum.Add(slot.Meta.TokenUsage.Usage())
			if u := slot.Meta.SessionUsage.Usage(); u.Output > total.Output {
				total = u
			}
		}
	}
	var faults []string
	if want := p.main().Transcript.Total(); sum != want || total != want {
		faults = append(faults, fmt.Sprintf("tokens: shares add up to %v, the total says %v, the transcript has %v", sum, total, want))
	}
	return faults
}

// broken returns the faults of the repository except half-written objects of any process, which
// git's prune removes.
func (p *play) broken() []string {
	p.TB.Helper()
	return slices.DeleteFunc(testkit.Faults(p.TB, p.Repo), func(f string) bool { return strings.Contains(f, "/objects/tmp_obj_") })
}

// faults returns all faults at the end.
func (p *play) faults() []string {
	p.TB.Helper()
	broken := slices.DeleteFunc(p.broken(), func(f string) bool {
		return strings.HasSuffix(f, " git processes") // a repair may start more
	})
	return slices.Concat(broken, p.dangling(), p.journal(), p.states(), p.lost(), p.tokens(), p.leftBehind(), p.leaked())
}

// leaked reports a checkpoint with knownLater, if it is in the secret file.
func (p *play) leaked() []string {
	if _, err := os.Stat(p.Path(".env")); err != nil {
		return nil
	}
	if found := p.TryGit("grep", "-l", "-F", "-e", knownLater, testkit.Branch); found.Code == 0 {
		return []string{"a value that is known is in " + found.Stdout}
	}
	return nil
}

func (p *play) leftBehind() []string {
	var faults []string
	for _, path := range p.temporary() {
		faults = append(faults, "left behind: "+path)
	}
	return faults
}
