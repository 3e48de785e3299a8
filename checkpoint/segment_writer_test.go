package checkpoint_test

import (
	"context"
	"crypto/sha256"
	"encoding"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

const kib = 1 << 10

// cut returns the segments of the lines by the definition of the format.
func cut(lines []string) []string {
	var segments []string
	open := make([]string, 0, len(lines))
	size := 0
	for _, line := range lines {
		open = append(open, strings.ReplaceAll(string(transcript.Stored([]byte(line))), "s3cret", "REDACTED"))
		if size += len(line) + 1; size >= 256*kib {
			segments, open, size = append(segments, strings.Join(open, "\n")), open[:0], 0
		}
	}
	if len(open) > 0 {
		segments = append(segments, strings.Join(open, "\n"))
	}
	return segments
}

// blobs reads the segments back.
func blobs(tb testing.TB, repo *git.Repo, t checkpoint.StoredTranscript) []string {
	tb.Helper()
	if len(t.Segments) == 0 {
		return nil
	}
	texts := make([]string, 0, len(t.Segments))
	for _, oid := range t.Segments {
		object, err := repo.Read(tb.Context(), string(oid))
		must(tb, err)
		texts = append(texts, string(object.Data))
	}
	return texts
}

func drawLines(t *rapid.T) []string {
	sizes := rapid.OneOf(rapid.IntRange(0, 200), rapid.IntRange(0, 40*kib), rapid.IntRange(200*kib, 300*kib), rapid.Just(-1))
	lines := make([]string, rapid.IntRange(1, 24).Draw(t, "lines"))
	for i := range lines {
		if n := sizes.Draw(t, "size"); n >= 0 {
			lines[i] = jsonLine(i, n)
		}
	}
	return lines
}

// TestExtendInAnySteps: however a transcript grows, and in whatever steps it is stored, the
// result equals that of one pass, and closed segments don't change.
func TestExtendInAnySteps(t *testing.T) {
	t.Parallel()
	f := newPlainFixture(t)
	path := filepath.Join(t.TempDir(), "t.jsonl")
	rapid.Check(t, func(rt *rapid.T) {
		lines := drawLines(rt)
		s := f.segmenter("steps")
		var st session.Segments
		var closed []git.OID
		var text string
		extend := func(budget int64) {
			next, err := s.Extend(t.Context(), st, path, int64(len(text)), budget)
			must(t, err)
			if budget > 0 && next.Raw-st.Raw > budget {
				rt.Fatalf("took %d bytes of %d", next.Raw-st.Raw, budget)
			}
			st = next
			got, err := s.Transcript(st)
			must(t, err)
			if len(got.Segments) < st.Closed || !slices.Equal(got.Segments[:len(closed)], closed) {
				rt.Fatalf("a closed segment has changed: %v, was %v", got.Segments, closed)
			}
			closed = slices.Clone(got.Segments[:st.Closed])
		}
		for i, line := range lines {
			text += line
			if line != "" && rapid.Bool().Draw(rt, "before the newline") {
				must(t, os.WriteFile(path, []byte(text), 0o600))
				extend(0)
			}
			if text += "\n"; i == len(lines)-1 || rapid.IntRange(0, 3).Draw(rt, "then") == 0 {
				must(t, os.WriteFile(path, []byte(text), 0o600))
				extend(rapid.SampledFrom([]int64{0, 1, 10 * kib, 256 * kib, 600 * kib}).Draw(rt, "budget"))
			}
		}
		extend(0)
		got, err := s.Transcript(st)
		must(t, err)
		want := cut(lines)
		if diff := cmp.Diff(want, blobs(t, f.git, got)); diff != "" {
			rt.Fatalf("segments differ:\n%.500s", diff)
		}
		if got.Hash != hashOf(strings.Join(want, "\n")) || st.Lines != len(lines) {
			rt.Fatalf("%d lines, hash %s", st.Lines, got.Hash)
		}
		if once := f.transcript(t, "once", text); !cmp.Equal(once, got) {
			rt.Fatalf("one pass gives %v, steps gave %v", once, got)
		}
	})
}

func TestTranscriptsShareSegmentsOfCommonPrefix(t *testing.T) {
	t.Parallel()
	f := newPlainFixture(t)
	lines := make([]string, 0, 30)
	for i := range 30 {
		lines = append(lines, jsonLine(i, 30*kib))
	}
	one := f.transcript(t, "one", strings.Join(append(slices.Clone(lines), "{}"), "\n"))
	two := f.transcript(t, "two", strings.Join(append(slices.Clone(lines), jsonLine(31, 600*kib)), "\n"))
	if len(one.Segments) != 4 || !slices.Equal(one.Segments[:3], two.Segments[:3]) || one.Segments[3] == two.Segments[3] {
		t.Errorf("%v\n%v", one, two)
	}
}

// grown returns a state with closed segments, as of a long session.
func grown(tb testing.TB, f *fixture, s checkpoint.SegmentWriter, closed int) session.Segments {
	tb.Helper()
	blob, err := f.git.WriteBlob([]byte("{}"))
	must(tb, err)
	must(tb, s.Side(session.Segments{}).Replace([]byte(strings.Repeat(string(blob)+"\n", closed))))
	state, ok := sha256.New().(encoding.BinaryMarshaler)
	if !ok {
		tb.Fatal("no state")
	}
	hash, err := state.MarshalBinary()
	must(tb, err)
	return session.Segments{Lines: closed, Closed: closed, Hash: hash}
}

func TestSegmentSizes(t *testing.T) {
	t.Parallel()
	f := newPlainFixture(t)
	text := strings.Repeat(jsonLine(0, 1000)+"\n", 2400)
	path := filepath.Join(t.TempDir(), "t.jsonl")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	for _, tc := range []struct{ before, after int }{
		{0, 9}, {254, 257}, {255, 258}, {256, 258}, {997, 998}, {998, 998},
	} {
		t.Run(strconv.Itoa(tc.before), func(t *testing.T) {
			t.Parallel()
			s := f.segmenter(fmt.Sprint("long", tc.before))
			st, err := s.Extend(t.Context(), grown(t, f, s, tc.before), path, int64(len(text)), 0)
			must(t, err)
			if st.Closed != tc.after || st.Raw != int64(len(text)) || st.Open == "" {
				t.Errorf("%d closed segments, want %d", st.Closed, tc.after)
			}
		})
	}
}

// TestExtendRestartsAfterLoss: stored data may be missing, because gc removed it, the side
// file was damaged by a crash or by hand, or another program's state was restored from a
// backup.
func TestExtendRestartsAfterLoss(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(jsonLine(0, 1000)+"\n", 700)
	for name, lose := range map[string]func(*fixture, checkpoint.SegmentWriter, *session.Segments){
		"of the open segment": func(f *fixture, s checkpoint.SegmentWriter, st *session.Segments) {
			must(t, errors.Join(f.git.SyncObjects(), s.Repo.SyncObjects()))
			must(t, os.Remove(filepath.Join(f.git.CommonDir, "objects", st.Open[:2], st.Open[2:])))
		},
		"of the side file": func(_ *fixture, s checkpoint.SegmentWriter, st *session.Segments) {
			must(t, s.Side(*st).Replace(nil))
		},
		"of the side file's id": func(_ *fixture, s checkpoint.SegmentWriter, st *session.Segments) {
			must(t, s.Side(*st).Replace(make([]byte, 999)))
		},
		"of the hash": func(_ *fixture, _ checkpoint.SegmentWriter, st *session.Segments) { st.Hash = []byte("?") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newPlainFixture(t)
			path := filepath.Join(t.TempDir(), "t.jsonl")
			must(t, os.WriteFile(path, []byte(text), 0o600))
			s := f.segmenter("lost")
			half := int64(len(text) / 700 * 350)
			st, err := s.Extend(t.Context(), session.Segments{}, path, half, 0)
			must(t, err)
			kept, err := s.Verify(t.Context(), st)
			must(t, err)
			if !cmp.Equal(kept, st) {
				t.Error("nothing is lost yet")
			}
			lose(f, s, &st)
			s.Repo = open(t, f.Repo)
			if kept, err = s.Verify(t.Context(), st); err != nil || kept.Lines != 0 {
				t.Errorf("verified %+v, %v", kept, err)
			}
			for _, to := range []int64{half, int64(len(text))} {
				again, err := s.Extend(t.Context(), st, path, to, 0)
				must(t, err)
				got, err := s.Transcript(again)
				must(t, err)
				if want := f.transcript(t, "again", text[:to]); !cmp.Equal(got, want) {
					t.Errorf("%v, want %v", got, want)
				}
				lose(f, s, &again)
				st = again
			}
			none, err := s.Extend(t.Context(), st, path+".gone", half, 0)
			if !errors.Is(err, transcript.ErrNotFound) || none.Raw != 0 {
				t.Errorf("%+v, %v", none, err)
			}
		})
	}
}

// stopper cancels after some lines.
type stopper struct {
	secrets
	cancel context.CancelFunc
	left   *int
}

func (s stopper) Line(line []byte) []byte {
	if *s.left--; *s.left == 0 {
		s.cancel()
	}
	return s.secrets.Line(line)
}

func TestExtendKeepsWorkBeforeDeadline(t *testing.T) {
	t.Parallel()
	f := newPlainFixture(t)
	text := strings.Repeat(jsonLine(0, 1000)+"\n", 2000)
	path := filepath.Join(t.TempDir(), "t.jsonl")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	s, left := f.segmenter("late"), 600
	s.Redact = stopper{cancel: cancel, left: &left}
	st, err := s.Extend(ctx, session.Segments{}, path, int64(len(text)), 0)
	if !errors.Is(err, context.Canceled) || st.Lines < 600 || st.Lines == 2000 {
		t.Fatalf("%d lines, %v", st.Lines, err)
	}
	st, err = s.Extend(t.Context(), st, path, int64(len(text)), 0)
	must(t, err)
	got, err := s.Transcript(st)
	must(t, err)
	if want := f.transcript(t, "again", text); !cmp.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestFailedExtendChangesNothing(t *testing.T) {
	t.Parallel()
	f := newPlainFixture(t)
	text := strings.Repeat(jsonLine(0, 1000)+"\n", 700)
	path := filepath.Join(t.TempDir(), "t.jsonl")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	s := f.segmenter("full")
	objects := filepath.Join(f.git.CommonDir, "objects")
	must(t, os.Rename(objects, objects+".away"))
	must(t, os.WriteFile(objects, nil, 0o600))
	st, err := s.Extend(t.Context(), session.Segments{}, path, int64(len(text)), 0)
	if err == nil || !cmp.Equal(st, session.Segments{}) {
		t.Errorf("%+v, %v", st, err)
	}
	must(t, os.Remove(objects))
	must(t, os.Rename(objects+".away", objects))
	st, err = s.Extend(t.Context(), st, path, int64(len(text)), 0)
	must(t, err)
	if st.Lines != 700 {
		t.Errorf("%d lines", st.Lines)
	}
}

func TestExtendEmpty(t *testing.T) {
	t.Parallel()
	f := newPlainFixture(t)
	s := f.segmenter("none")
	st, err := s.Extend(t.Context(), session.Segments{}, "/nowhere", 0, 0)
	must(t, err)
	got, err := s.Transcript(st)
	must(t, err)
	if !cmp.Equal(got, checkpoint.StoredTranscript{}) {
		t.Errorf("%v", got)
	}
	if _, err := s.Extend(t.Context(), st, filepath.Join(t.TempDir(), "none"), 1, 0); !errors.Is(err, transcript.ErrNotFound) {
		t.Error(err)
	}
}

func TestLongLineIsOmitted(t *testing.T) {
	testkit.Long(t, "a line of 51 MB")
	t.Parallel()
	f := newPlainFixture(t)
	long := jsonLine(1, 51<<20)
	got := f.transcript(t, "huge", "{}\n"+long+"\n[]\n")
	want := []string{fmt.Sprintf("{}\n{\"type\":\"entire-omitted\",\"bytes\":%d}", len(long)), "[]"}
	if diff := cmp.Diff(want, blobs(t, f.git, got)); diff != "" {
		t.Errorf("%.300s", diff)
	}
}

func TestRestoreRedactsForeignTranscripts(t *testing.T) {
	t.Parallel()
	f := newPlainFixture(t)
	s := f.segmenter("restored")
	tree := func(files map[string]string) git.OID {
		entries := make([]git.TreeEntry, 0, len(files))
		for name, text := range files {
			blob, err := f.git.WriteBlob([]byte(text))
			must(t, err)
			entries = append(entries, git.TreeEntry{Mode: git.ModeFile, Name: name, OID: blob})
		}
		oid, err := git.WriteTree(f.git, entries)
		must(t, err)
		return oid
	}
	for name, tc := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"none":                 {map[string]string{"prompt.txt": "x"}, nil},
		"one blob":             {map[string]string{"full.jsonl": "{\"a\":\"s3cret\"}\n{}\n"}, []string{"{\"a\":\"REDACTED\"}\n{}"}},
		"a legacy name":        {map[string]string{"full.log": "{}\n"}, []string{"{}"}},
		"segments":             {map[string]string{"full.jsonl": "{}", "full.jsonl.001": "s3cret", "full.jsonl.003": "lost"}, []string{"{}", "REDACTED"}},
		"chunks without begin": {map[string]string{"full.jsonl.001": "{}"}, nil},
		"a false hash":         {map[string]string{"full.jsonl": "{}", "content_hash.txt": "sha256:00"}, []string{"{}"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, found, err := s.Restore(t.Context(), tree(tc.files))
			must(t, err)
			texts := blobs(t, f.git, got)
			text := strings.Join(texts, "\n")
			if found && got.Hash != hashOf(text) || strings.Contains(text, "s3cret") {
				t.Error("the hash is that of another text")
			}
			if diff := cmp.Diff(tc.want, texts); diff != "" || found != (tc.want != nil) {
				t.Error(diff)
			}
			raw, found, err := checkpoint.TranscriptIn(t.Context(), f.git, tree(tc.files))
			must(t, err)
			text = strings.Join(blobs(t, f.git, raw), "\n")
			if found != (tc.want != nil) || len(raw.Segments) != len(tc.want) || found && raw.Hash != hashOf(text) {
				t.Errorf("%v", raw)
			}
		})
	}
}

func TestRestoreSplitsLongTranscript(t *testing.T) {
	testkit.Long(t, "it restores 51 MB")
	t.Parallel()
	f := newPlainFixture(t)
	long := strings.Repeat(jsonLine(0, 1<<20)+"\n", 51)
	blob, err := f.git.WriteBlob([]byte(long))
	must(t, err)
	tree, err := git.WriteTree(f.git, []git.TreeEntry{{Mode: git.ModeFile, Name: "full.jsonl", OID: blob}})
	must(t, err)
	got, found, err := f.segmenter("restored").Restore(t.Context(), tree)
	must(t, err)
	texts := blobs(t, f.git, got)
	text := strings.Join(texts, "\n")
	if want := strings.TrimSuffix(strings.ReplaceAll(long, "s3cret", "REDACTED"), "\n"); !found || text != want || len(texts) != 2 || got.Hash != hashOf(text) {
		t.Errorf("%d chunks, %d bytes of %d", len(texts), len(text), len(want))
	}
}

// BenchmarkExtend stores 20 KB that follow 20 MB.
func BenchmarkExtend(b *testing.B) {
	f := newPlainFixture(b)
	lines := make([]string, 0, 20_020)
	for i := range cap(lines) {
		lines = append(lines, jsonLine(i, 960))
	}
	text := strings.Join(lines, "\n") + "\n"
	path := filepath.Join(b.TempDir(), "t.jsonl")
	must(b, os.WriteFile(path, []byte(text), 0o600))
	before := int64(strings.Index(text, lines[20_000]))
	s := f.segmenter("long")
	st, err := s.Extend(b.Context(), session.Segments{}, path, before, 0)
	must(b, err)
	for b.Loop() {
		next, err := s.Extend(b.Context(), st, path, int64(len(text)), 0)
		must(b, err)
		b.StopTimer()
		must(b, os.RemoveAll(filepath.Join(f.git.CommonDir, "objects", next.Open[:2], next.Open[2:])))
		b.StartTimer()
	}
}
