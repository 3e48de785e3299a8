package blameaccuracy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// hand is an editor of files: the person, or an agent or subagent with its tools or a shell.
type hand struct {
	w     *world
	by    writer
	kind  Kind
	tools *testkit.Session // nil for the person
	shell bool
	extra []Kind
	// avoids are files that it must not change, touches gets those that it changes.
	avoids, touches map[string]bool
	// before is the least number of lines before its change that an edit repeats.
	before int
}

// person returns the person, who uses an editor.
func (w *world) person() hand { return hand{w: w, kind: ByPerson} }

// hand returns the agent, with its tools or a shell.
func (w *world) hand(a *agent, shell bool, extra ...Kind) hand {
	h := hand{w: w, by: writer{session: a.ID, prompt: a.prompt}, kind: ByTool, tools: a.Session, shell: shell, extra: extra, touches: w.theirs}
	if w.alone {
		h.avoids = w.mine
	}
	if shell {
		h.kind = ByShell
	}
	return h
}

func (h hand) kinds() []Kind { return append([]Kind{h.kind}, h.extra...) }

// run runs a command that changes files.
func (h hand) run(command string) {
	if h.tools == nil {
		h.w.Sh(command)
		return
	}
	if result := h.tools.Bash(command); result.Code != 0 {
		h.w.TB.Fatalf("%s: %s", command, result.Stderr)
	}
}

// changes records that the files are changed.
func (h hand) changes(paths ...string) {
	for _, path := range paths {
		if h.touches != nil {
			h.touches[path] = true
		}
	}
}

// replace replaces lines from to to by other lines.
func (h hand) replace(path string, from, to int, lines []string) {
	h.changes(path)
	old := h.w.text(path)
	text := slices.Concat(old[:from], lines, old[to:])
	switch {
	case h.tools == nil:
		h.w.Write(path, join(text))
	case h.shell && from == len(old):
		h.run("cat >> " + path + " <<'END'\n" + join(lines) + "END")
	case h.shell && to == from+1 && len(lines) == 1 && strings.TrimSpace(old[from]) != "" && len(h.w.counted(old[from:to])) == 1:
		h.run(fmt.Sprintf("sed -i 's|%s|%s|' %s", strings.TrimSpace(old[from]), strings.TrimSpace(lines[0]), path))
	case h.shell:
		h.run(fmt.Sprintf("{ head -n %d %s; cat <<'END'\n%sEND\ntail -n +%d %s; } > new.tmp && mv new.tmp %s", from, path, join(lines), to+1, path, path))
	case len(h.w.counted(old)) == 0 || h.w.chance(15):
		h.tools.Write(path, join(text))
	default:
		// The replaced text must occur only once in the file.
		first, last := from, to
		for len(h.w.counted(old[first:last])) == 0 && last < len(old) {
			last++
		}
		for len(h.w.counted(old[first:last])) == 0 && first > 0 {
			first--
		}
		if h.w.disturbed { // genuine edits repeat lines around the change
			first, last = max(0, first-max(h.before, h.w.random.IntN(4))), min(len(old), last+h.w.random.IntN(3))
		}
		h.tools.Edit(path, join(old[first:last]), join(slices.Concat(old[first:from], lines, old[to:last])))
	}
}

func join(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// edit changes a random part of a file, or creates the file.
func (h hand) edit(path string) {
	text := h.w.text(path)
	at := h.w.random.IntN(len(text) + 1)
	to := min(len(text), at+1+h.w.random.IntN(3))
	what := h.w.random.IntN(10)
	h.w.note("%s %s in %s at %d-%d (%d)", h.by.prompt, h.kind, path, at, to, what)
	switch {
	case what < 4 || at == len(text):
		h.replace(path, at, at, h.w.lines(4, h.by, h.kinds()...))
	case what < 7:
		h.replace(path, at, to, h.w.lines(3, h.by, h.kinds()...))
	case what < 8:
		h.replace(path, at, at+1, []string{h.w.line(h.by, h.kinds()...)})
	case what < 9 && len(text) > 12:
		h.replace(path, at, to, nil)
	default:
		h.replace(path, len(text), len(text), h.w.lines(3, h.by, h.kinds()...))
	}
}

// create makes a file.
func (h hand) create() {
	path := h.w.newFile()
	lines := slices.Concat(h.w.lines(6, h.by, h.kinds()...), h.w.lines(6, h.by, h.kinds()...), h.w.lines(2, h.by, h.kinds()...))
	h.w.note("%s %s makes %s", h.by.prompt, h.kind, path)
	h.changes(path)
	switch {
	case h.tools == nil:
		h.w.Write(path, join(lines))
	case h.shell:
		h.run("mkdir -p sub && cat > " + path + " <<'END'\n" + join(lines) + "END")
	default:
		h.tools.Write(path, join(lines))
	}
}

// block chooses lines to move: at least three with a known author, so that git can follow them.
func (w *world) block(path string) (from, to int, ok bool) {
	const least, most, tries = 3, 6, 10
	text := w.text(path)
	for range tries {
		from = w.random.IntN(max(1, len(text)-most))
		to = min(len(text), from+least+w.random.IntN(most-least))
		if len(w.counted(text[from:to])) >= least {
			return from, to, true
		}
	}
	return 0, 0, false
}

// moveWithin moves a block to another place in its file. The authors of the lines stay the same.
func (h hand) moveWithin(path string) {
	from, to, ok := h.w.block(path)
	text := h.w.text(path)
	if !ok || len(text) < 2*(to-from)+2 {
		return
	}
	block := slices.Clone(text[from:to])
	h.w.note("%s %s moves %d-%d within %s", h.by.prompt, h.kind, from, to, path)
	rest := slices.Concat(text[:from], text[to:])
	at := len(rest)
	if from > len(text)/2 {
		at = 0
	}
	h.w.mark(block, MovedWithin)
	h.changes(path)
	if h.tools == nil {
		h.w.Write(path, join(slices.Insert(rest, at, block...)))
		return
	}
	h.replace(path, from, to, nil)
	h.replace(path, at, at, block)
}

// moveBetween moves a block to another file.
func (h hand) moveBetween(path, target string) {
	from, to, ok := h.w.block(path)
	text := h.w.text(path)
	if !ok || path == target || target == "" || len(text) < 2*(to-from) {
		return
	}
	block := slices.Clone(text[from:to])
	h.w.note("%s %s moves %d-%d of %s to %s", h.by.prompt, h.kind, from, to, path, target)
	h.w.mark(block, MovedBetween)
	for _, line := range h.w.counted(block) {
		h.w.facts[strings.TrimSpace(line)].mover = &h.by
	}
	h.w.moved[path], h.w.moved[target] = true, true
	h.replace(path, from, to, nil)
	at := h.w.random.IntN(len(h.w.text(target)) + 1)
	h.replace(target, at, at, block)
}

// rename renames a file.
func (h hand) rename(path string) {
	to := h.w.newFile()
	if h.w.TryGit("ls-files", "--error-unmatch", path).Code != 0 {
		return
	}
	h.w.note("%s %s renames %s to %s", h.by.prompt, h.kind, path, to)
	h.changes(path, to)
	h.w.mark(h.w.text(path), Renamed)
	h.w.moved[path], h.w.moved[to] = true, true
	h.run("mkdir -p sub && git mv " + path + " " + to)
}

// indent indents a block. The authors of the lines stay the same.
func (h hand) indent(path string) {
	text := h.w.text(path)
	from := h.w.random.IntN(len(text))
	to := min(len(text), from+2+h.w.random.IntN(6))
	h.w.note("%s %s indents %d-%d of %s", h.by.prompt, h.kind, from, to, path)
	h.changes(path)
	h.w.mark(text[from:to], Indented)
	if h.tools != nil {
		h.run(fmt.Sprintf(`sed -i '%d,%ds/^\(.\)/\t\1/' %s`, from+1, to, path))
		return
	}
	for i := from; i < to; i++ {
		if text[i] != "" {
			text[i] = "\t" + text[i]
		}
	}
	h.w.Write(path, join(text))
}

// format runs a formatter that changes more than white space: the authors of the lines are unchanged.
func (h hand) format(path string) {
	text := h.w.text(path)
	from := h.w.random.IntN(len(text))
	to := min(len(text), from+2+h.w.random.IntN(4))
	changed := false
	for i := from; i < to; i++ {
		line := strings.TrimSpace(text[i])
		f := h.w.facts[line]
		if f == nil || strings.HasSuffix(line, ";") {
			continue
		}
		text[i] += ";"
		h.w.facts[line+";"] = &fact{writer: f.writer, kinds: append(slices.Clone(f.kinds), Formatted), mover: f.mover}
		changed = true
	}
	if !changed {
		return
	}
	h.w.note("%s %s formats %d-%d of %s", h.by.prompt, h.kind, from, to, path)
	h.changes(path)
	if h.tools == nil {
		h.w.Write(path, join(text))
		return
	}
	h.run(fmt.Sprintf(`sed -i '%d,%ds/)$/);/' %s`, from+1, to, path))
}

// look has an agent read a file, at random.
func (h hand) look(path string) {
	if !h.w.disturbed || h.tools == nil || !h.w.chance(40) {
		return
	}
	if h.w.chance(50) {
		h.tools.Show(path)
	} else {
		h.run("cat " + path)
	}
	h.w.pause()
}

// step does one random edit. With several agents at once, path is the file of the step.
func (h hand) step(path string) {
	if path == "" {
		h.create()
		return
	}
	h.look(path)
	switch what := h.w.random.IntN(20); {
	case what < 11:
		h.edit(path)
	case what < 13:
		h.create()
	case what < 15:
		h.moveWithin(path)
	case what < 16:
		h.moveBetween(path, h.file())
	case what < 17:
		h.rename(path)
	case what < 18:
		h.indent(path)
	default:
		h.format(path)
	}
}
