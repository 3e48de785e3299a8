package checkpoint_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

const toolUse = "toolu_0123456789ab"

var taskAuthor = git.Signature{Name: "Ada Tester", Email: "ada@example.com", When: time.Unix(1_770_000_000, 0).UTC()}

func TestSubjects(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("äb", 40)
	done := func(text string) checkpoint.Todo { return checkpoint.Todo{Content: text, Status: "completed"} }
	open := checkpoint.Todo{Content: "open", Status: "in_progress"}
	for want, got := range map[string]string{
		"Completed 'dev' agent: Write it (toolu_012345)":             checkpoint.TaskEndSubject("dev", "Write\n it ", toolUse),
		"Completed 'dev' agent (toolu_012345)":                       checkpoint.TaskEndSubject("dev", "", toolUse),
		"Completed agent: Write it (toolu_012345)":                   checkpoint.TaskEndSubject("", "Write it", toolUse),
		"Task: toolu_012345":                                         checkpoint.TaskEndSubject("", "", toolUse),
		"Task: t1":                                                   checkpoint.TaskEndSubject("", "", "t1"),
		"Completed agent: " + strings.Repeat("äb", 28) + "ä... (t1)": checkpoint.TaskEndSubject("", long, "t1"),
		"second (t1)":                                                checkpoint.TaskStepSubject([]checkpoint.Todo{done("first"), open, done("second"), open}, 1, "t1"),
		"Planning: 2 todos (t1)":                                     checkpoint.TaskStepSubject([]checkpoint.Todo{open, open}, 1, "t1"),
		"Checkpoint #3: t1":                                          checkpoint.TaskStepSubject(nil, 3, "t1"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestToolUse(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]string{
		".entire/metadata/s1/tasks/" + toolUse:                  toolUse,
		"ab/cdef123456/tasks/t-1":                               "t-1",
		"ab/cdef123456/tasks/t-1/checkpoints/001-t-1.json":      "t-1",
		".entire/metadata/s1":                                   "",
		".entire/metadata/s1/tasks/":                            "",
		".entire/metadata/s1/tasks/../../x":                     "",
		".entire/metadata/s1/tasks/" + strings.Repeat("x", 129): "",
		".entire/metadata/s1/tasks/a b":                         "",
		"Entire-Session: cf1":                                   "",
	} {
		got, ok := checkpoint.TaskToolUse(dir)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v", dir, got, ok)
		}
	}
}

func TestWriteShadowTask(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"plain", "sha256"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, kind)
			head, err := f.git.Commit(t.Context(), "HEAD")
			must(t, err)
			end := checkpoint.TaskEnd{Session: "s1", ToolUse: toolUse, Agent: "a1", UUID: "u1"}
			agent, err := f.git.WriteBlob([]byte("{}"))
			must(t, err)
			files, err := checkpoint.WriteTaskEnd(f.git, end, []git.OID{agent, agent}, checkpoint.StoredTranscript{Segments: []git.OID{agent}})
			must(t, err)
			step, err := checkpoint.WriteTaskStep(f.git, "s1", 7, checkpoint.TaskStep{Tool: "TodoWrite", ToolUse: toolUse, Time: time.Unix(0, 0).UTC()})
			must(t, err)
			pending := checkpoint.Task{Session: "s1", ToolUse: toolUse, Subject: "Done", Files: append(files, step...)}
			oid, made, err := checkpoint.WriteShadowTask(t.Context(), f.git, checkpoint.Tip{Tree: head.Tree}, nil, pending, taskAuthor)
			must(t, err)
			if !made {
				t.Fatal("no commit")
			}
			dir := ".entire/metadata/s1/"
			want := []string{
				dir + "full.jsonl", dir + "tasks/" + toolUse + "/agent-a1.jsonl", dir + "tasks/" + toolUse + "/agent-a1.jsonl.001",
				dir + "tasks/" + toolUse + "/checkpoint.json", dir + "tasks/" + toolUse + "/checkpoints/007-" + toolUse + ".json",
			}
			c, err := f.git.Commit(t.Context(), string(oid))
			must(t, err)
			if diff := cmp.Diff(want, strings.Fields(f.Git("ls-tree", "-r", "--name-only", string(oid), ".entire/"))); diff != "" {
				t.Error(diff)
			}
			message := "Done\n\nEntire-Metadata-Task: " + dir + "tasks/" + toolUse + "\nEntire-Session: s1\nEntire-Strategy: manual-commit\n"
			if diff := cmp.Diff(message, c.Message); diff != "" {
				t.Error(diff)
			}
			got, found, err := checkpoint.ReadShadowTaskEnd(t.Context(), f.git, c.Tree, "s1", toolUse)
			if err != nil || !found || got != end {
				t.Errorf("read back %+v, %v, %v", got, found, err)
			}
			if _, made, err = checkpoint.WriteShadowTask(t.Context(), f.git, checkpoint.Tip{Commit: oid, Tree: c.Tree}, nil, pending, taskAuthor); made || err != nil {
				t.Errorf("the same once more: %v, %v", made, err)
			}
			pending.ToolUse = "../x"
			if _, _, err = checkpoint.WriteShadowTask(t.Context(), f.git, checkpoint.Tip{}, nil, pending, taskAuthor); !errors.Is(err, checkpoint.ErrToolID) {
				t.Error(err)
			}
		})
	}
}

func TestStoreTranscript(t *testing.T) {
	testkit.Long(t, "it stores 60 MB")
	t.Parallel()
	f := newFixture(t, "plain")
	path := filepath.Join(t.TempDir(), "agent-a.jsonl")
	text := strings.Repeat(`{"text":"`+strings.Repeat("x", 1<<20)+`"}`+"\n", 60) + `{"a":"s3cret"}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	chunks, err := checkpoint.StoreTaskTranscript(t.Context(), f.git, secrets{}, path, int64(len(text)))
	if err != nil || len(chunks) != 2 {
		t.Fatalf("%d chunks, %v", len(chunks), err)
	}
	var stored bytes.Buffer
	if _, err := (checkpoint.StoredTranscript{Segments: chunks}).Copy(t.Context(), f.git, &stored); err != nil {
		t.Fatal(err)
	}
	if want := strings.TrimSuffix(strings.ReplaceAll(text, "s3cret", "REDACTED"), "\n"); stored.String() != want {
		t.Error("the chunks don't add up to the transcript")
	}
	late, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	chunks, err = checkpoint.StoreTaskTranscript(late, f.git, secrets{}, path, int64(len(text)))
	if err != nil || len(chunks) != 1 {
		t.Fatalf("without time: %d chunks, %v", len(chunks), err)
	}
	rest, err := f.git.Read(t.Context(), string(chunks[0]))
	if err != nil || !strings.HasPrefix(string(rest.Data), `{"type":"entire-omitted"`) {
		t.Errorf("%q, %v", rest.Data, err)
	}
}
