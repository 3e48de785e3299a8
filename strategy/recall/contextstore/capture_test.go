package contextstore_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
)

// capture returns a Capture with limits that no test reaches unless it lowers them.
func (b *captureBench) capture() contextstore.Capture {
	return contextstore.Capture{
		Repo: b.repo, Redact: redact.New(), Base: b.Git(b.root, "rev-parse", "HEAD"),
		Limits: contextstore.CaptureLimits{File: 1 << 20, Total: 10 << 20, Contents: true},
	}
}

// makeOld gives files an old modification time, as of files that are not being edited.
func (b *captureBench) makeOld(paths ...string) {
	b.Helper()
	for _, p := range paths {
		old := time.Now().Add(-time.Hour)
		fineCapture(b, os.Chtimes(filepath.Join(b.root, p), old, old))
	}
	b.waitForClock()
}

// makeNew gives files a new modification time, however slow the test is.
func (b *captureBench) makeNew(paths ...string) {
	b.Helper()
	soon := time.Now().Add(time.Hour)
	for _, p := range paths {
		fineCapture(b, os.Chtimes(filepath.Join(b.root, p), soon, soon))
	}
}

// waitForClock waits until the file system's clock has advanced as far as a capture requires,
// because the change time of a file can't be set.
func (b *captureBench) waitForClock() {
	b.Helper()
	probe := filepath.Join(b.Dir, "probe")
	var first time.Time
	for {
		fineCapture(b, os.WriteFile(probe, nil, 0o600))
		info, err := os.Stat(probe)
		fineCapture(b, err)
		if first.IsZero() {
			first = info.ModTime()
		}
		if info.ModTime().Sub(first) > 110*time.Millisecond {
			return
		}
	}
}

func (b *captureBench) files(c contextstore.Capture, known map[string]contextstore.Captured, paths ...string) contextstore.Taken {
	b.Helper()
	taken, err := c.Files(b.Context(), paths, known)
	fineCapture(b, err)
	return taken
}

// text returns the captured content.
func (b *captureBench) text(f contextstore.Captured) string {
	b.Helper()
	object, err := b.repo.Read(b.Context(), f.Blob)
	fineCapture(b, err)
	return string(object.Data)
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestCaptureChanges(t *testing.T) {
	t.Parallel()
	b := newCaptureBench(t)
	b.write("edit.go", "package e\n\nfunc A() {}\n")
	b.write("gone.go", "1\n2\n3\n")
	b.write("same.txt", "same\n")
	b.write("crlf.txt", "1\r\n2\r\n")
	b.Git(b.root, "add", "-A")
	b.Git(b.root, "commit", "-qm", "second")
	b.write("edit.go", "package e\n\nfunc B() {}\n\nfunc C() {}\n")
	fineCapture(t, os.Remove(filepath.Join(b.root, "gone.go")))
	b.write("new/n.txt", "1\n2")
	b.write("crlf.txt", "1\n2\n3\n")
	b.write("token.txt", "key = "+"gh"+"p_"+"A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8\n")
	fineCapture(t, os.Symlink("/etc/passwd", filepath.Join(b.root, "link")))
	fineCapture(t, os.Symlink("/etc", filepath.Join(b.root, "out")))
	fineCapture(t, syscall.Mkfifo(filepath.Join(b.root, "fifo"), 0o600))
	fineCapture(t, os.Mkdir(filepath.Join(b.root, "folder"), 0o755))
	b.write("latin.txt", "gr\xfc\xdfe\n")
	b.write("nul.bin", "a\x00b")
	b.write("empty", "")
	taken := b.files(b.capture(), nil, "edit.go", "gone.go", "same.txt", "new/n.txt", "crlf.txt", "token.txt", "link", "out/passwd",
		"fifo", "folder", "latin.txt", "nul.bin", "empty", "never", "edit.go", "../up", "/etc/passwd", ".git/config", "")
	type file struct {
		Change         recall.Change
		Omitted        recall.Omitted
		Added, Removed int
		Hash, Text     string
	}
	got := map[string]file{}
	for path, f := range taken.Files {
		one := file{Change: f.Change, Omitted: f.Omitted, Added: f.Added, Removed: f.Removed, Hash: f.Hash}
		if f.Blob != "" {
			one.Text = b.text(f)
		}
		got[path] = one
	}
	mod, add, del := recall.Modified, recall.Added, recall.Deleted
	token := "key = " + "gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8\n"
	want := map[string]file{
		"edit.go":    {mod, "", 3, 1, sha("package e\n\nfunc B() {}\n\nfunc C() {}\n"), "package e\n\nfunc B() {}\n\nfunc C() {}\n"},
		"gone.go":    {del, recall.Gone, 0, 3, "", ""},
		"same.txt":   {mod, "", 0, 0, sha("same\n"), "same\n"},
		"new/n.txt":  {add, "", 2, 0, sha("1\n2"), "1\n2"},
		"crlf.txt":   {mod, "", 1, 0, sha("1\n2\n3\n"), "1\n2\n3\n"},
		"token.txt":  {add, "", 1, 0, sha(token), "key = REDACTED\n"},
		"link":       {add, recall.Link, 0, 0, sha("/etc/passwd"), ""},
		"out/passwd": {del, recall.Gone, 0, 0, "", ""},
		"fifo":       {add, recall.Unreadable, 0, 0, "", ""},
		"folder":     {del, recall.Gone, 0, 0, "", ""},
		"latin.txt":  {add, recall.Binary, 0, 0, sha("gr\xfc\xdfe\n"), ""},
		"nul.bin":    {add, recall.Binary, 0, 0, sha("a\x00b"), ""},
		"empty":      {add, "", 0, 0, sha(""), ""},
		"never":      {del, recall.Gone, 0, 0, "", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(taken.Warnings) != 4 || taken.Unfinished {
		t.Errorf("%q, %v", taken.Warnings, taken.Unfinished)
	}
	if o := taken.Files["edit.go"].Outline; len(o) == 0 {
		t.Error("there is no outline")
	}
}

func TestCaptureOmits(t *testing.T) {
	t.Parallel()
	b := newCaptureBench(t)
	b.write(".gitignore", "ignored*\n")
	b.write("ignored-tracked.txt", "x")
	b.write("build/tool.sh", "x")
	b.Git(b.root, "add", "-Af")
	b.Git(b.root, "commit", "-qm", "second")
	want := map[string]recall.Omitted{
		"ignored.txt": recall.Ignored, "ignored-tracked.txt": "", "plain.txt": "",
		"build/new.sh": "", "web/dist/x.js": recall.BuildMade, "node_modules/a/b.js": recall.BuildMade, "distance/x": "",
		"x.log": recall.Excluded, "logs/deep/x.txt": recall.Excluded,
		".env": recall.Secret, "a/.env.local": recall.Secret, ".env.example": "", ".environment": "",
		"tls/server.pem": recall.Secret, "id_rsa": recall.Secret, "id_rsa.pub": "", "id_card.go": "", ".aws/config": recall.Secret,
		"home/.ssh/known_hosts": recall.Secret, ".netrc": recall.Secret, "credentials": recall.Secret, "credentials.go": "",
		"key.go": "", "Master.KEY": recall.Secret, "secrets.yaml": recall.Secret,
	}
	paths := make([]string, 0, len(want))
	for path := range want {
		b.write(path, "text\n")
		paths = append(paths, path)
	}
	c := b.capture()
	c.Limits.Exclude = []string{"*.log", "logs/**"}
	before := b.repo.Processes()
	b.waitForClock() // so that every file has a Stat
	taken := b.files(c, nil, paths...)
	if n := b.repo.Processes() - before; n > 2 {
		t.Errorf("it took %d processes", n)
	}
	got := map[string]recall.Omitted{}
	for path, f := range taken.Files {
		got[path] = f.Omitted
		if kept := f.Blob != ""; kept != (f.Omitted == "") || (f.Hash != "") != kept {
			t.Errorf("%s: %+v", path, f)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	c.Unignored = map[string]bool{}
	for _, path := range paths {
		c.Unignored[path] = path != "ignored.txt"
	}
	if diff := cmp.Diff(taken, b.files(c, nil, paths...)); diff != "" {
		t.Error(diff)
	}
	c.Limits.Contents = false
	for path, f := range b.files(c, nil, paths...).Files {
		if f.Blob != "" || f.Omitted == "" || (f.Hash == "") != (f.Omitted != recall.NotWanted) {
			t.Errorf("without contents: %s: %+v", path, f)
		}
	}
}

func TestCaptureReadsOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	b := newCaptureBench(t)
	b.write("one.txt", "one\n")
	b.write("two.txt", "two\n")
	fineCapture(t, os.Symlink("one.txt", filepath.Join(b.root, "link")))
	b.makeOld("one.txt", "two.txt", "a.go")
	paths := []string{"one.txt", "two.txt", "a.go", "gone", "link"}
	first := b.files(b.capture(), nil, paths...)
	data, err := json.Marshal(first.Files) // as stored between hooks
	fineCapture(t, err)
	var known map[string]contextstore.Captured
	fineCapture(t, json.Unmarshal(data, &known))
	c := b.capture()
	c.Redact = nil // panics if a file is read
	before := b.repo.Processes()
	if diff := cmp.Diff(first, b.files(c, known, paths...)); diff != "" {
		t.Error(diff)
	}
	if n := b.repo.Processes() - before; n != 0 {
		t.Errorf("it took %d processes", n)
	}
	b.write("two.txt", "2wo\n")
	b.makeNew("two.txt")
	again := b.files(b.capture(), known, paths...)
	if got := again.Files["two.txt"]; got.Hash != sha("2wo\n") || got.Stat != "" {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(first.Files["one.txt"], again.Files["one.txt"]); diff != "" {
		t.Error(diff)
	}
	// A file written just before is read again even if its size and times are the same.
	b.write("two.txt", "3wo\n")
	if got := b.files(b.capture(), again.Files, "two.txt").Files["two.txt"]; got.Hash != sha("3wo\n") {
		t.Errorf("%+v", got)
	}
	// An object that git has pruned is written again.
	b.Git(b.root, "prune", "--expire=now")
	if got := b.files(b.capture(), known, "one.txt").Files["one.txt"]; b.text(got) != "one\n" {
		t.Errorf("%+v", got)
	}
}

func TestCaptureKeepsItsLimits(t *testing.T) {
	t.Parallel()
	b := newCaptureBench(t)
	for n, size := range []int{100, 400, 300, 700, 5000} {
		b.write("f"+strconv.Itoa(n), strings.Repeat("x", size))
	}
	paths := []string{"f0", "f1", "f2", "f3", "f4"}
	b.makeOld(paths...)
	c := b.capture()
	c.Limits.File, c.Limits.Total = 1000, 1100
	reasons := func(taken contextstore.Taken) map[string]recall.Omitted {
		m := map[string]recall.Omitted{}
		for path, f := range taken.Files {
			if m[path] = f.Omitted; len(f.Hash) != 64 || (f.Blob != "") != (f.Omitted == "") {
				t.Errorf("%+v", f)
			}
		}
		return m
	}
	taken := b.files(c, nil, paths...)
	want := map[string]recall.Omitted{"f0": "", "f1": "", "f2": "", "f3": recall.NoRoom, "f4": recall.TooLarge}
	if diff := cmp.Diff(want, reasons(taken)); diff != "" {
		t.Error(diff)
	}
	if len(taken.Warnings) != 2 || !strings.Contains(taken.Warnings[0], "max_file_size") || !strings.Contains(taken.Warnings[1], "max_checkpoint_size") {
		t.Errorf("%q", taken.Warnings)
	}
	if diff := cmp.Diff(taken, b.files(c, taken.Files, paths...)); diff != "" {
		t.Error(diff)
	}
	// If the limits change, known files are checked again.
	c.Limits.Total, c.Limits.File = 10000, 10000
	for path, why := range reasons(b.files(c, taken.Files, paths...)) {
		if why != "" {
			t.Errorf("%s: %s", path, why)
		}
	}
	c.Limits.Total, c.Limits.File = 500, 350
	want = map[string]recall.Omitted{"f0": "", "f1": recall.TooLarge, "f2": "", "f3": recall.TooLarge, "f4": recall.TooLarge}
	if diff := cmp.Diff(want, reasons(b.files(c, taken.Files, paths...))); diff != "" {
		t.Error(diff)
	}
}

func TestCaptureStopsAtWorkLimit(t *testing.T) {
	t.Parallel()
	b := newCaptureBench(t)
	b.write("one", strings.Repeat("1", 600))
	b.write("two", strings.Repeat("2", 600))
	b.write("three", "3")
	c := b.capture()
	c.Limits.Work = 1000
	known := map[string]contextstore.Captured{"two": {File: recall.File{Path: "two", Hash: sha("old"), Omitted: recall.Binary}, Stat: "old"}}
	taken := b.files(c, known, "one", "two", "three")
	if !taken.Unfinished || taken.Files["one"].Hash == "" || taken.Files["two"].Hash != sha("old") || taken.Files["three"].Hash == "" {
		t.Errorf("%+v", taken)
	}
	if unread := b.files(c, nil, "one", "two").Files["two"]; unread.Omitted != recall.Unread || unread.Size != 600 || unread.Change != recall.Added || unread.Stat != "" {
		t.Errorf("%+v", unread)
	}
	if again := b.files(c, taken.Files, "one", "two"); !again.Unfinished {
		t.Error("it isn't told that there is more")
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	cut, err := c.Files(ended, []string{"one", "two"}, known)
	if err != nil || !cut.Unfinished || cut.Files["two"].Hash != sha("old") {
		t.Errorf("%+v, %v", cut, err)
	}
}

func TestCaptureWithoutABase(t *testing.T) {
	t.Parallel()
	b := newCaptureBench(t)
	b.Git(b.Dir, "init", "-q", "unborn")
	b.root = filepath.Join(b.Dir, "unborn")
	b.write("a", "1\n")
	b.open()
	c := b.capture0()
	if f := b.files(c, nil, "a").Files["a"]; f.Change != recall.Added || f.Added != 1 || f.Blob == "" {
		t.Errorf("%+v", f)
	}
	c.Base = strings.Repeat("1", 40) // no such object
	if f := b.files(c, nil, "a").Files["a"]; f.Change != recall.Modified || f.Added != 0 {
		t.Errorf("%+v", f)
	}
}

func (b *captureBench) capture0() contextstore.Capture {
	return contextstore.Capture{
		Repo: b.repo, Redact: redact.New(), Limits: contextstore.CaptureLimits{File: 1 << 20, Total: 10 << 20, Contents: true},
	}
}

func TestCaptureNestedRepository(t *testing.T) {
	t.Parallel()
	b := newCaptureBench(t)
	b.Git(b.Dir, "clone", "-q", "repo", "lib")
	b.Git(b.root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", filepath.Join(b.Dir, "lib"), "lib")
	b.Git(b.root, "commit", "-qm", "lib")
	b.write("lib/a.go", "package b\n")
	b.write("lib/.gitignore", "private.txt\n")
	b.write("lib/private.txt", "its own\n")
	b.write("new.txt", "new\n")
	taken := b.files(b.capture(), nil, "lib/a.go", "lib/private.txt", "new.txt", "lib")
	if f := taken.Files["lib/private.txt"]; f.Omitted != recall.Ignored || f.Hash != "" {
		t.Errorf("%+v", f)
	}
	if f := taken.Files["lib/a.go"]; f.Change != recall.Modified || b.text(f) != "package b\n" {
		t.Errorf("%+v", f)
	}
	if f := taken.Files["new.txt"]; f.Omitted != "" || len(taken.Warnings) != 0 {
		t.Errorf("%+v, %q", f, taken.Warnings)
	}
}

func TestCaptureReportsStoreErrors(t *testing.T) {
	t.Parallel()
	b := newCaptureBench(t)
	b.write("one", "something new\n")
	oid := string(b.repo.Format.HashBlob([]byte("something new\n")))
	fanout := filepath.Join(b.repo.CommonDir, "objects", oid[:2])
	fineCapture(t, errors.Join(os.RemoveAll(fanout), os.WriteFile(fanout, nil, 0o600)))
	taken, err := b.capture().Files(t.Context(), []string{"one", "a.go"}, nil)
	if err == nil || taken.Files["one"].Omitted != recall.Unreadable || taken.Files["one"].Stat != "" || taken.Files["a.go"].Blob == "" {
		t.Errorf("%+v, %v", taken, err)
	}
}

func TestCountChanged(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("x\n", 3000)
	for _, tc := range []struct {
		before, after  string
		added, removed int
	}{
		{"", "", 0, 0},
		{"", "1\n2\n", 2, 0},
		{"1\n2", "", 0, 2},
		{"1\n2\n3\n", "1\nx\n3\n", 1, 1},
		{"1\n2\n3\n", "0\n1\n2\n3\n4\n", 2, 0},
		{"a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n", 2, 3},
		{"1\r\n2\r\n", "1\n2\n", 0, 0},
		{"1\n2\n", "1\n2", 0, 0},
		{strings.ReplaceAll(many, "x", "y"), many + "z\n", 3001, 3000},
	} {
		if added, removed := contextstore.CountChanged(tc.before, tc.after); added != tc.added || removed != tc.removed {
			t.Errorf("%.30q to %.30q: +%d -%d, want +%d -%d", tc.before, tc.after, added, removed, tc.added, tc.removed)
		}
	}
}

func FuzzCountChanged(f *testing.F) {
	f.Add("a\nb\n", "b\na")
	f.Fuzz(func(t *testing.T, before, after string) {
		added, removed := contextstore.CountChanged(before, after)
		back, forth := contextstore.CountChanged(after, before)
		if added < 0 || removed < 0 || added != forth || removed != back {
			t.Errorf("+%d -%d, and back +%d -%d", added, removed, back, forth)
		}
		if added > strings.Count(after, "\n")+1 || removed > strings.Count(before, "\n")+1 {
			t.Errorf("+%d -%d", added, removed)
		}
	})
}

func FuzzCapturePaths(f *testing.F) {
	b := newCaptureBench(f)
	outside := filepath.Join(b.Dir, "outside.txt")
	fineCapture(f, os.WriteFile(outside, []byte("outside\n"), 0o600))
	fineCapture(f, os.Symlink(b.Dir, filepath.Join(b.root, "up")))
	c := b.capture()
	for _, path := range []string{"a.go", "../outside.txt", "up/outside.txt", outside, "a.go/x", "./a.go", "x\x00y", "a.go\n", "\xff", "up"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		taken, err := c.Files(t.Context(), []string{path}, nil)
		if err != nil {
			t.Skip(err)
		}
		for _, file := range taken.Files {
			if file.Hash == sha("outside\n") {
				t.Errorf("%q leads outside", path)
			}
		}
	})
}

func BenchmarkCapture(t *testing.B) {
	b := newCaptureBench(t)
	var paths []string
	for n := range 50 {
		path := "pkg" + strconv.Itoa(n%5) + "/file" + strconv.Itoa(n) + ".go"
		b.write(path, "package p\n\n"+strings.Repeat("func F() error { return errors.New(\"a line of some length\") }\n", 150))
		paths = append(paths, path)
	}
	b.makeOld(paths...)
	b.Git(b.root, "add", "-A")
	b.Git(b.root, "commit", "-qm", "files")
	c := b.capture()
	known := b.files(c, nil, paths...).Files
	t.Run("unchanged", func(t *testing.B) {
		for t.Loop() {
			if _, err := c.Files(t.Context(), paths, known); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("read", func(t *testing.B) {
		t.SetBytes(50 * 9000)
		for t.Loop() {
			if _, err := c.Files(t.Context(), paths, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}
