package importaccuracy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// hand edits files: the person, or a session with its tools or a shell.
type hand struct {
	w       *world
	by      writer
	session *testkit.Session // nil for the person
	// shell is set if the session uses its shell, whole if it writes whole files.
	shell, whole bool
	// dir is the folder of the files, "" for all.
	dir string
}

// some does one to three random edits.
func (h hand) some() {
	for range 1 + h.w.random.IntN(3) {
		h.w.pass(time.Minute)
		h.edit()
	}
}

// edit does one random edit.
func (h hand) edit() {
	path := h.w.file(h.dir)
	if path == "" || h.w.chance(20) {
		h.create(h.w.newFile(h.dir))
		return
	}
	lines := h.w.text(path)
	at := h.w.random.IntN(len(lines))
	to := min(len(lines), at+1+h.w.random.IntN(3))
	switch what := h.w.random.IntN(10); {
	case what < 5:
		h.replace(path, at, at, h.w.lines(1, 5, h.by))
	case what < 8:
		h.replace(path, at, to, h.w.lines(1, 3, h.by))
	case what < 9:
		h.replace(path, len(lines), len(lines), h.w.lines(1, 4, h.by))
	case len(lines) > 10:
		h.replace(path, at, to, nil)
	default:
		h.replace(path, at, at, h.w.lines(2, 4, h.by))
	}
}

// create makes a file.
func (h hand) create(path string) { h.replace(path, 0, 0, h.w.lines(5, 12, h.by)) }

// replace replaces the lines from the index from up to to.
func (h hand) replace(path string, from, to int, lines []string) {
	file := h.w.repo.Path(path)
	_, err := os.Stat(file)
	isNew := err != nil
	var old []string
	if !isNew {
		old = h.w.text(path)
	}
	h.w.note("  %s replaces %d-%d of %s by %d lines", h.by, from, to, path, len(lines))
	content := join(slices.Concat(old[:from], lines, old[to:]))
	if h.session != nil && h.w.carriage && !isNew { // the client's tools convert the ends
		h.w.repo.Write(path, join(old))
	}
	switch {
	case h.session == nil:
		h.w.repo.Write(path, content)
	case h.shell && (isNew || h.whole):
		h.run("mkdir -p '" + filepath.Dir(h.rel(path)) + "' && cat > '" + h.rel(path) + "' <<'END'\n" + content + "END")
	case h.shell && from == len(old):
		h.run("cat >> '" + h.rel(path) + "' <<'END'\n" + join(lines) + "END")
	case h.shell && to == from+1 && len(lines) == 1 && strings.TrimSpace(old[from]) != "" && strings.Contains(old[from], "value"):
		h.run(fmt.Sprintf("sed -i 's|%s|%s|' '%s'", old[from], lines[0], h.rel(path)))
	case h.shell:
		h.run(fmt.Sprintf("{ head -n %d '%s'; cat <<'END'\n%sEND\ntail -n +%d '%s'; } > new.tmp && mv new.tmp '%s'", from, h.rel(path), join(lines), to+1, h.rel(path), h.rel(path)))
	case isNew || h.whole:
		h.session.Write(file, content)
	default:
		// The replaced text must occur only once in the file.
		isKnown := func(list []string) bool {
			return slices.ContainsFunc(list, func(line string) bool { return strings.Contains(line, "value") })
		}
		first, last := from, to
		for last < len(old) && !isKnown(old[first:last]) {
			last++
		}
		for first > 0 && !isKnown(old[first:last]) {
			first--
		}
		h.session.Edit(file, join(old[first:last]), join(slices.Concat(old[first:from], lines, old[to:last])))
	}
	if h.w.carriage {
		h.w.repo.Write(path, strings.ReplaceAll(strings.ReplaceAll(h.w.repo.Read(path), "\r\n", "\n"), "\n", "\r\n"))
	}
}

// rel returns a path of the repository as the session's shell names it.
func (h hand) rel(path string) string {
	rel, err := filepath.Rel(h.session.Cwd, h.w.repo.Path(path))
	if err != nil {
		h.w.tb.Fatalf("path: %v", err)
	}
	return rel
}

// run runs a command of the session.
func (h hand) run(command string) {
	if result := h.session.Bash(command); result.Code != 0 {
		h.w.tb.Fatalf("%s: %s", command, result.Stderr)
	}
}
