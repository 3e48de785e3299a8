package attribution_test

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/strategy/attribution"
)

// known is a line of known origin.
type known struct {
	text     string
	base     bool
	by       attribution.Author
	modified bool
	over     string // the base line that it replaces
}

// replacedLine returns the base line that is removed together with this one, empty if none is.
func (k known) replacedLine() string {
	if k.base {
		return k.text
	}
	return k.over
}

// fate is the known author of the removal of a base line.
type fate struct {
	by       attribution.Author
	replaced bool
}

// world is a file that agents and a person edit. No two lines are ever equal, so that each is
// unique.
type world struct {
	t      *rapid.T
	made   int
	base   []known
	now    []known
	gone   map[string]fate
	states []attribution.State
}

func (w *world) fresh() string {
	w.made++
	return "line " + strconv.Itoa(w.made)
}

func newWorld(t *rapid.T) *world {
	w := &world{t: t, gone: map[string]fate{}}
	for range rapid.IntRange(0, 30).Draw(t, "base lines") {
		w.base = append(w.base, known{text: w.fresh(), base: true})
	}
	w.now = slices.Clone(w.base)
	return w
}

// edit replaces a stretch of lines by new ones.
func (w *world) edit(by attribution.Author) {
	from := rapid.IntRange(0, len(w.now)).Draw(w.t, "from")
	olds := w.now[from:rapid.IntRange(from, min(len(w.now), from+5)).Draw(w.t, "to")]
	var lines []known
	for i := range rapid.IntRange(0, 5).Draw(w.t, "lines") {
		line := known{text: w.fresh(), by: by}
		if i < len(olds) {
			old := olds[i]
			line.over = old.replacedLine()
			line.modified = old.base || old.by != by || old.modified
		}
		lines = append(lines, line)
	}
	for i, old := range olds {
		if line := old.replacedLine(); line != "" {
			w.gone[line] = fate{by: by, replaced: i < len(lines)}
		}
	}
	w.now = slices.Concat(w.now[:from], lines, w.now[from+len(olds):])
}

// content writes lines as a file; no lines are no file.
func content(lines []known) []byte {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line.text + "\n")
	}
	return []byte(b.String())
}

// authors generates some sessions and a person.
func authors() *rapid.Generator[attribution.Author] {
	return rapid.SampledFrom([]attribution.Author{attribution.Person, "one", "two"})
}

// repository compares contents with git.
type repository struct{ *git.Repo }

func newRepository(t *testing.T) repository {
	t.Helper()
	made, _ := testkit.NewRepo(t, t.TempDir(), "empty", testkit.CleanEnv(t.TempDir(), t.TempDir(), os.Getenv("PATH")))
	repo, err := git.Discover(git.Locate{Dir: made.Dir, Environ: made.Env, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = repo.Close() })
	return repository{repo}
}

func (r repository) tree(t *rapid.T, data []byte) git.OID {
	blob, errA := r.WriteBlob(data)
	tree, errB := git.WriteTree(r.Repo, []git.TreeEntry{{Mode: git.ModeFile, Name: "f", OID: blob}})
	if err := cmp.Or(errA, errB); err != nil {
		t.Fatal(err)
	}
	return tree
}

// diff returns git's hunks, and its counts of added and removed lines.
func (r repository) diff(t *rapid.T, base, final []byte) (hunks []git.Hunk, added, removed int) {
	a, b := r.tree(t, base), r.tree(t, final)
	files, errA := git.Hunks(t.Context(), r.Repo, a, b, 1<<20)
	counts, errB := git.LineCounts(t.Context(), r.Repo, a, b)
	if err := cmp.Or(errA, errB); err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		return nil, 0, 0
	}
	return files[0].Hunks, counts[0].Added, counts[0].Removed
}

// check compares the attributed lines of a diff with the known authors.
func (w *world) check(base, final []known, l attribution.Lines, exact bool) {
	for _, line := range l.Added {
		k := final[line.Number]
		if line.By != k.by || exact && line.Modified != k.modified {
			w.t.Fatalf("%s: got %q modified %v, want %q %v", k.text, line.By, line.Modified, k.by, k.modified)
		}
	}
	if !exact {
		return
	}
	for _, line := range l.Removed {
		want := w.gone[base[line.Number].text]
		if line.By != want.by || line.Modified != want.replaced {
			w.t.Fatalf("%s: got %q replaced %v, want %q %v", base[line.Number].text, line.By, line.Modified, want.by, want.replaced)
		}
	}
}

// TestPropEveryLineHasItsAuthor plays edits of known authors and commits: the whole file, or
// only some of the hunks and then the rest.
func TestPropEveryLineHasItsAuthor(t *testing.T) {
	t.Parallel()
	repo := newRepository(t)
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(0, 6).Draw(t, "steps") {
			by := authors().Draw(t, "by")
			w.edit(by)
			w.states = append(w.states, attribution.State{By: by, Content: content(w.now)})
		}
		last := authors().Draw(t, "last")
		if rapid.Bool().Draw(t, "edited before the commit") {
			w.edit(last)
		}
		w.commit(repo, w.base, w.now, last, true)
		part := w.part(repo)
		w.commit(repo, w.base, part, last, false)
		w.commit(repo, part, w.now, last, false)
	})
}

// commit attributes a commit and checks that the attributed lines are those of git's diff, each
// with its author.
func (w *world) commit(repo repository, base, final []known, by attribution.Author, exact bool) {
	file := attribution.File{Base: content(base), Final: content(final), States: w.states, By: by}
	hunks, added, removed := repo.diff(w.t, file.Base, file.Final)
	file.Hunks = hunks
	lines := file.Attribute()
	if len(lines.Added) != added || len(lines.Removed) != removed {
		w.t.Fatalf("%d added and %d removed, git has %d and %d", len(lines.Added), len(lines.Removed), added, removed)
	}
	w.check(base, final, lines, exact)
}

// part returns the base with some of the hunks to the current content, as staged by git add -p.
func (w *world) part(repo repository) []known {
	hunks, _, _ := repo.diff(w.t, content(w.base), content(w.now))
	var part []known
	at := 0
	for _, h := range hunks {
		from, to := h.Old-1, h.New-1
		if h.OldLines == 0 {
			from++
		}
		if h.NewLines == 0 {
			to++
		}
		part = append(part, w.base[at:from]...)
		if at = from + h.OldLines; rapid.Bool().Draw(w.t, "staged") {
			part = append(part, w.now[to:to+h.NewLines]...)
		} else {
			part = append(part, w.base[from:at]...)
		}
	}
	return append(part, w.base[at:]...)
}

// TestPropAnyLines has lines that are often equal, so that git's diff may contain other lines
// than the written ones. The sums still equal git's, and if there is only one author, every
// line is theirs.
func TestPropAnyLines(t *testing.T) {
	t.Parallel()
	repo := newRepository(t)
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"{", "}", "", "\r", "return", "x"}), 0, 12)
	text := func(t *rapid.T, name string) []byte {
		s := strings.Join(words.Draw(t, name), "\n")
		return []byte(s + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end of "+name))
	}
	rapid.Check(t, func(t *rapid.T) {
		file := attribution.File{Base: text(t, "base"), By: "one"}
		for range rapid.IntRange(0, 4).Draw(t, "steps") {
			file.States = append(file.States, attribution.State{By: "one", Content: text(t, "step")})
		}
		file.Final = text(t, "final")
		hunks, added, removed := repo.diff(t, file.Base, file.Final)
		file.Hunks = hunks
		lines := file.Attribute()
		if len(lines.Added) != added || len(lines.Removed) != removed {
			t.Fatalf("%d added and %d removed, git has %d and %d", len(lines.Added), len(lines.Removed), added, removed)
		}
		for _, line := range slices.Concat(lines.Added, lines.Removed) {
			if line.By != "one" {
				t.Fatalf("line %d is not its only author's", line.Number)
			}
		}
	})
}
