package servermerge

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// change selects what an edit may change.
type change struct {
	// files are the files that may be edited; nil for all. dir is the folder of new files.
	files []string
	dir   string
	// half is 1 for the first half of a file, 2 for the second, 0 for all of it.
	half int
	// move is set if lines are moved to other files instead.
	move bool
	// most is the number of edits at most, 1 if it isn't set.
	most int
}

// hand edits files: a person in one of the clones, or a session with its tools or a shell.
type hand struct {
	w    *world
	repo *testkit.Repo
	by   writer

	session *testkit.Session // nil for a person
	shell   bool
}

// edit does one random edit.
func (h hand) edit(c change) {
	path := h.file(c)
	if path == "" || len(c.files) == 0 && h.w.chance(25) {
		h.create(h.w.newFile(c.dir))
		return
	}
	lines := text(h.repo, path)
	first, last := 0, len(lines)
	switch middle := len(lines) / 2; c.half { //nolint:mnd // half
	case 1:
		last = middle - 2
	case 2: //nolint:mnd // the second half
		first = middle + 2
	}
	at := first + h.w.random.IntN(max(1, last-first))
	to := min(last, at+1+h.w.random.IntN(3))
	switch what := h.w.random.IntN(20); {
	case what < 8:
		h.replace(path, at, at, h.w.lines(1, 5, h.by))
	case what < 13:
		h.replace(path, at, to, h.w.lines(1, 3, h.by))
	case what < 15 && h.w.counted(lines[at]):
		h.replace(path, at, at+1, []string{h.w.variant(lines[at], h.by)})
	case what < 16 && c.half != 1 && h.shell:
		h.generate(path)
	case what < 17 && c.half != 1:
		h.replace(path, len(lines), len(lines), h.w.lines(1, 4, h.by))
	case what < 18 && len(c.files) == 0 && h.by.role != unseen:
		h.rename(path, h.w.newFile(filepath.Dir(path)))
	case len(lines) > 12:
		h.replace(path, at, to, nil)
	default:
		h.replace(path, at, at, h.w.lines(2, 4, h.by))
	}
}

// file chooses a file with some lines, "" if there is none.
func (h hand) file(c change) string {
	const least = 6
	paths := c.files
	if len(paths) == 0 {
		for _, pattern := range []string{"*.src", "*/*.src"} {
			found, err := filepath.Glob(h.repo.Path(pattern))
			if err != nil {
				h.repo.TB.Fatalf("list files: %v", err)
			}
			paths = append(paths, found...)
		}
		for i, path := range paths {
			paths[i], _ = filepath.Rel(h.repo.Dir, path)
		}
		paths = slices.DeleteFunc(paths, func(path string) bool { return c.dir != "" && filepath.Dir(path) != c.dir })
	}
	paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return len(text(h.repo, path)) < least })
	if len(paths) == 0 {
		return ""
	}
	return paths[h.w.random.IntN(len(paths))]
}

// create makes a file.
func (h hand) create(path string) {
	lines := h.w.lines(6, 14, h.by)
	h.w.note("  %s makes %s", h.by, path)
	switch {
	case h.session == nil:
		h.w.write(h.repo, path, lines)
	case h.shell:
		h.run("mkdir -p " + filepath.Dir(path) + " && cat > " + path + " <<'END'\n" + join(lines) + "END")
	default:
		h.session.Write(path, join(lines))
	}
}

// rename renames a file.
func (h hand) rename(path, to string) {
	h.w.note("  %s renames %s to %s", h.by, path, to)
	command := "mv " + path + " " + to
	if h.session == nil {
		h.repo.Sh(command)
	} else {
		h.run(command)
	}
}

// move moves some lines of one writer to another file. They are the writer's as before, whom git
// blame finds: the block is long enough.
func (h hand) move(c change) {
	const least, most, tries = 3, 5, 20
	path, target := h.file(c), h.file(c)
	if path == "" || path == target {
		return
	}
	lines := text(h.repo, path)
	for range tries {
		from := h.w.random.IntN(len(lines) - most)
		to := from + least + h.w.random.IntN(most-least+1)
		block := lines[from:to]
		isOther := func(line string) bool { return !h.w.counted(line) || h.w.writers[line] != h.w.writers[block[0]] }
		if slices.ContainsFunc(block, isOther) {
			continue
		}
		h.w.note("  %s moves %d-%d of %s to %s", h.by, from, to, path, target)
		h.replace(path, from, to, nil)
		at := h.w.random.IntN(len(text(h.repo, target)) + 1)
		h.replace(target, at, at, block)
		return
	}
}

// replace replaces the lines from the index from up to to by others.
func (h hand) replace(path string, from, to int, lines []string) {
	old := text(h.repo, path)
	h.w.note("  %s replaces %d-%d of %s by %d lines", h.by, from, to, path, len(lines))
	content := join(slices.Concat(old[:from], lines, old[to:]))
	known := func(list []string) bool { return slices.ContainsFunc(list, h.w.counted) }
	switch {
	case h.session == nil:
		h.repo.Write(path, content)
	case h.shell && from == len(old):
		h.run("cat >> " + path + " <<'END'\n" + join(lines) + "END")
	case h.shell && to == from+1 && len(lines) == 1 && known(old[from:to]):
		h.run(fmt.Sprintf("sed -i 's|%s|%s|' %s", strings.TrimSpace(old[from]), lines[0], path))
	case h.shell:
		h.run(fmt.Sprintf("{ head -n %d %s; cat <<'END'\n%sEND\ntail -n +%d %s; } > new.tmp && mv new.tmp %s", from, path, join(lines), to+1, path, path))
	case h.w.chance(10):
		h.session.Write(path, content)
	default:
		// The replaced text must occur only once in the file.
		first, last := from, to
		for last < len(old) && !known(old[first:last]) {
			last++
		}
		for first > 0 && !known(old[first:last]) {
			first--
		}
		h.session.Edit(path, join(old[first:last]), join(slices.Concat(old[first:from], lines, old[to:last])))
	}
}

// generate appends lines whose texts are in no call of the session: a loop prints them.
func (h hand) generate(path string) {
	numbers := make([]string, 2+h.w.random.IntN(3))
	for i := range numbers {
		n := len(h.w.writers)
		numbers[i] = strconv.Itoa(n)
		h.w.writers[fmt.Sprintf("value%d = generate(number%d)", n, n)] = h.by
	}
	h.run("for n in " + strings.Join(numbers, " ") + "; do printf 'value%d = generate(number%d)\\n' $n $n; done >> " + path)
}

// run runs a command of the session.
func (h hand) run(command string) {
	if result := h.session.Bash(command); result.Code != 0 {
		h.repo.TB.Fatalf("%s: %s", command, result.Stderr)
	}
}

// person returns the author of the pull requests, who uses an editor.
func (w *world) person() hand { return hand{w: w, repo: w.author, by: writer{role: recorded}} }

// colleague returns a person who works in the clone without hooks.
func (w *world) colleague() hand { return hand{w: w, repo: w.forge, by: writer{role: unseen}} }

// turn plays a turn of one session, which edits files, and returns the session. during is called
// before it ends.
func (w *world) turn(c change, during ...func(s *testkit.Session)) *testkit.Session {
	s := w.sessions[w.random.IntN(len(w.sessions))]
	w.prompt = fmt.Sprintf("Request %d", len(w.log))
	w.note("%s of session %s", w.prompt, s.ID[:8])
	s.Prompt(w.prompt)
	for range 1 + w.random.IntN(max(1, c.most)) {
		h := hand{w: w, repo: w.author, by: writer{agent, s.ID, w.prompt}, session: s, shell: w.chance(35)}
		switch {
		case c.move:
			h.move(c)
		case w.chance(10):
			helper := s.Subagent(fmt.Sprintf("helper %d", len(w.log)), "Help with it", "")
			h.session, h.shell = helper.Session, false
			h.edit(c)
			helper.Stop()
			helper.Done()
		default:
			h.edit(c)
		}
	}
	for _, do := range during {
		do(s)
	}
	s.Stop()
	return s
}
