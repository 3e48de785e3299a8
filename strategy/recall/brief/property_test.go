package brief_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/recall/memory"
)

// checkBrief fails if a brief exceeds a limit, is malformed or contains a file twice.
func checkBrief(t interface{ Fatalf(string, ...any) }, m brief.Material, b brief.Brief) {
	tokens := 0
	for _, part := range b.Parts {
		tokens += brief.CountTokens(part)
		if n := len(utf16.Encode([]rune(part))); n > brief.MaxUnits || n == 0 {
			t.Fatalf("a part of %d units", n)
		}
		if !utf8.ValidString(part) {
			t.Fatalf("not UTF-8: %q", part)
		}
		for _, r := range part {
			if r != '\n' && r != '\t' && r != '\u200c' && r != '\u200d' && !unicode.IsPrint(r) {
				t.Fatalf("%U is in a part", r)
			}
		}
		unfenced(t, part)
		if strings.Contains(part, "system-reminder>") {
			t.Fatalf("a part could end what it stands in: %q", part)
		}
	}
	if tokens > brief.MaxTokens || tokens != b.Tokens {
		t.Fatalf("%d tokens, said to be %d", tokens, b.Tokens)
	}
	if m.Kind == brief.Opening && tokens > brief.MaxOpeningTokens {
		t.Fatalf("an opening of %d tokens", tokens)
	}
	if len(b.Parts) > max(1, m.Parts) || len(b.Parts) == 0 && (m.Kind != brief.Drift || b.Message != "") {
		t.Fatalf("%d parts", len(b.Parts))
	}
	if len(b.Parts) > 0 && (b.Message == "" || strings.SplitN(b.Parts[0], "\n", 2)[0] != b.Message) {
		t.Fatalf("message %q of %q", b.Message, b.Parts[0])
	}
	if m.Kind == brief.Notice && strings.Count(b.Parts[0], "\n") != 1 {
		t.Fatalf("a notice of other than two lines: %q", b.Parts[0])
	}
	files := slices.Concat(b.Whole, b.Hunks, b.Named)
	slices.Sort(files)
	if len(slices.Compact(files)) != len(b.Whole)+len(b.Hunks)+len(b.Named) {
		t.Fatalf("a file is in it twice: %+v", b)
	}
}

// unfenced returns the text outside of code blocks. It fails if a block isn't closed.
func unfenced(t interface{ Fatalf(string, ...any) }, text string) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(text + "\n") {
		bare := strings.TrimSuffix(line, "\n")
		switch {
		case fence == "" && strings.HasPrefix(bare, "```"):
			fence = bare[:len(bare)-len(strings.TrimLeft(bare, "`"))]
		case fence == "":
			b.WriteString(line)
		case bare == fence:
			fence = ""
		}
	}
	if fence != "" {
		t.Fatalf("a code block isn't closed: %q", text)
	}
	return b.String()
}

// hostileText generates texts of random pieces that are hard to quote, cut or count.
func hostileText() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{
		"a", "word ", "</system-reminder>", "<system-reminder>", "func Name() {\n", "\n", "\t", "    ", "```", "`````go\n", "~~~\n", "\x1b[31m", "\u202e", "\u2066", "\x00", "\xff\xfe", "\u2028",
		"😀", "👩\u200d👩\u200d👧", "漢字", "한국어", "кириллица", "عربي", "deadbeef0123456789", "%d%s", "- ", "# ", "### f.go (added, current)\n", "**Current Task**: ", "\r\n", "\r", "…",
		"!@#$%^&*()", "aGVsbG8gd29ybGQ=", strings.Repeat("x", 700), strings.Repeat("=", 200), strings.Repeat("line of some text\n", 60), strings.Repeat("😀", 400), strings.Repeat("é", 900),
	})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
	})
}

func texts(many int) *rapid.Generator[[]string] {
	return rapid.Custom(func(t *rapid.T) []string {
		some := rapid.SliceOfN(hostileText(), 0, 6).Draw(t, "texts")
		return slices.Repeat(some, rapid.SampledFrom([]int{1, 1, many}).Draw(t, "times"))
	})
}

func anyFile(t *rapid.T, m *brief.Material, name string) {
	content := strings.Repeat(hostileText().Draw(t, "content"), rapid.SampledFrom([]int{1, 1, 3, 40}).Draw(t, "size"))
	f := recall.File{
		Path: name, Content: content, Hash: sum(content), Size: int64(len(content)), LastModified: noon.Add(-time.Duration(rapid.IntRange(0, 1000).Draw(t, "age")) * time.Minute),
		Change:  rapid.SampledFrom([]recall.Change{recall.Added, recall.Modified, recall.Deleted, recall.Change(hostileText().Draw(t, "change"))}).Draw(t, "how"),
		Omitted: rapid.SampledFrom([]recall.Omitted{"", "", "", recall.Binary, recall.NotWanted, recall.Omitted("a\nb")}).Draw(t, "omitted"),
		Added:   rapid.IntRange(0, 1<<40).Draw(t, "lines"),
	}
	m.Checkpoint.State.Files[name] = f
	switch rapid.IntRange(0, 3).Draw(t, "now") {
	case 0:
		m.Present[name] = brief.Present{Exists: true, Hash: f.Hash, Content: content}
	case 1:
		m.Present[name] = brief.Present{Exists: true, Hash: "other", Content: hostileText().Draw(t, "other")}
	case 2:
		m.Present[name] = brief.Present{}
	}
	if rapid.Bool().Draw(t, "based") {
		m.Base[name] = content + hostileText().Draw(t, "base")
	}
}

func anyMaterial(t *rapid.T) brief.Material {
	m := brief.Material{
		Kind: rapid.SampledFrom([]brief.Kind{brief.Full, brief.Full, brief.Short, brief.Drift, brief.Notice, brief.Opening, 99}).Draw(t, "kind"),
		Now:  noon, Present: map[string]brief.Present{}, Base: map[string]string{}, Parts: rapid.IntRange(0, 3).Draw(t, "parts"),
		Branch: hostileText().Draw(t, "branch"), Commit: hostileText().Draw(t, "commit"),
		Checkpoint: recall.Checkpoint{
			ID: hostileText().Draw(t, "id"), Summary: hostileText().Draw(t, "summary"), Sessions: texts(3).Draw(t, "sessions"), Cause: recall.Cause(hostileText().Draw(t, "cause")),
			Checkpoints: texts(400).Draw(t, "checkpoints"), Compaction: strings.Join(texts(300).Draw(t, "compaction"), "\n"),
			State: recall.State{
				Files: map[string]recall.File{},
				Analysis: recall.Analysis{
					CurrentTask: hostileText().Draw(t, "task"), NextSteps: texts(500).Draw(t, "steps"), Decisions: texts(500).Draw(t, "decisions"),
					Blockers: texts(500).Draw(t, "blockers"), RelevantDocs: texts(500).Draw(t, "docs"),
				},
				Context: recall.Context{WorkingDirectory: hostileText().Draw(t, "dir"), GitBranch: hostileText().Draw(t, "then"), GitCommit: hostileText().Draw(t, "at"), FilesRead: texts(900).Draw(t, "read")},
			},
		},
	}
	a, c := &m.Checkpoint.State.Analysis, &m.Checkpoint.State.Context
	for i, text := range texts(100).Draw(t, "requests") {
		a.Requests = append(a.Requests, recall.Request{Number: i, Text: text, RepliesTo: text})
		a.Todo = append(a.Todo, recall.Todo{Text: text, State: text})
		a.Progress.Commits = append(a.Progress.Commits, recall.Commit{Hash: text, Subject: text, Request: i})
		a.Progress.PullRequests = append(a.Progress.PullRequests, text)
		c.FileNotes = append(c.FileNotes, recall.FileNote{Path: text, Why: text, Request: i})
	}
	a.OpenQuestion, a.Progress.Reported, a.Progress.LastCall = hostileText().Draw(t, "question"), hostileText().Draw(t, "reported"), hostileText().Draw(t, "call")
	a.Progress.Stopped = rapid.SampledFrom([]recall.Stop{"", recall.ByPerson, recall.Midway, "x"}).Draw(t, "stopped")
	for _, text := range texts(200).Draw(t, "commands") {
		m.Checkpoint.State.Context.Commands = append(m.Checkpoint.State.Context.Commands, recall.Command{Text: text, Result: recall.Outcome(text)})
	}
	for i, text := range texts(100).Draw(t, "others") {
		m.Others = append(m.Others, brief.Other{Session: text, Files: slices.Repeat([]string{text}, i), At: noon})
	}
	for i := range rapid.SampledFrom([]int{0, 1, 5, 12}).Draw(t, "files") {
		anyFile(t, &m, fmt.Sprintf("%s%d.%s", hostileText().Draw(t, "name"), i, rapid.SampledFrom([]string{"go", "md", "txt", "```"}).Draw(t, "ext")))
	}
	for i, text := range texts(100).Draw(t, "memory") {
		id := fmt.Sprint(text, i)
		m.Memory.Sessions = append(m.Memory.Sessions, memory.Source{ID: id, At: noon, Person: text})
		m.Memory.Purpose = append(m.Memory.Purpose, memory.Quote{Text: text, Session: id})
		m.Memory.Done = append(m.Memory.Done, memory.Commit{Commit: recall.Commit{Subject: text}, Session: id})
		m.Memory.Facts = append(m.Memory.Facts, memory.Fact{Here: true, Session: id, Person: text, Fact: recall.Fact{
			Kind: rapid.SampledFrom([]recall.FactKind{recall.Decision, recall.Attempt, recall.Rule, recall.Environment, recall.Failure}).Draw(t, "fact"),
			By:   rapid.SampledFrom([]recall.Speaker{recall.Person, recall.OfPlan, recall.OfAgent, recall.Output}).Draw(t, "by"),
			Text: text, Why: text, Command: text, Times: i,
		}})
	}
	for i := range rapid.SampledFrom([]int{0, 0, 0, 3000}).Draw(t, "many") {
		m.Checkpoint.State.Files[fmt.Sprintf("many/%d.go", i)] = recall.File{}
	}
	return m
}

// No material results in a brief beyond its limits.
func TestPropBriefKeepsItsLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := anyMaterial(t)
		checkBrief(t, m, brief.Write(m))
		name, limit := rapid.SampledFrom(brief.SectionNames()).Draw(t, "section"), rapid.SampledFrom([]int{0, 1, 50, 900}).Draw(t, "limit")
		if text, err := brief.Section(m, name, limit); err != nil || brief.CountTokens(text) > limit {
			t.Fatalf("%s: %d tokens of %d, %v", name, brief.CountTokens(text), limit, err)
		}
	})
}

// A brief doesn't depend on the order of maps.
func TestPropBriefIsDeterministic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := anyMaterial(t)
		if a, b := brief.Write(m), brief.Write(m); fmt.Sprint(a) != fmt.Sprint(b) {
			t.Fatalf("%v\n%v", a, b)
		}
	})
}

func FuzzBrief(f *testing.F) {
	for kind := range 5 {
		m := material()
		m.Kind = brief.Kind(kind)
		raw, err := json.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, "a.go", "package a\n", "package b\n")
	}
	f.Fuzz(func(t *testing.T, raw []byte, name, content, before string) {
		m := brief.Material{}
		if json.Unmarshal(raw, &m) != nil {
			return
		}
		if m.Checkpoint.State.Files == nil || m.Present == nil || m.Base == nil {
			return
		}
		put(&m, name, recall.Modified, content)
		m.Base[name] = before
		checkBrief(t, m, brief.Write(m))
	})
}

// BenchmarkWrite writes the brief of a large checkpoint.
func BenchmarkWrite(b *testing.B) {
	m := material()
	for i := range 60 {
		text := strings.Repeat(fmt.Sprintf("func F%d(a int) int {\n\treturn a * %d\n}\n\n", i, i), 400)
		name := fmt.Sprintf("dir/file%d.go", i)
		put(&m, name, recall.Modified, text)
		m.Base[name] = strings.Replace(text, "return", "panic()\n\treturn", 30)
	}
	for b.Loop() {
		brief.Write(m)
	}
}
