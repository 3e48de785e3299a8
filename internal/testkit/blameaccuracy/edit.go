package blameaccuracy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// hand is who edits, and how: the person, or an agent or subagent by its tools or by a shell.
type hand struct {
	by    writer
	kind  Kind
	tools *testkit.Session // nil for the person
	shell bool
	extra []Kind
}

// person is the person with an editor.
func (w *world) person() hand { return hand{kind: ByPerson} }

// hand is the agent, by its tools or by a shell.
func (a *agent) hand(shell bool, extra ...Kind) hand {
	h := hand{by: writer{session: a.ID, prompt: a.prompt}, kind: ByTool, tools: a.Session, shell: shell, extra: extra}
	if shell {
		h.kind = ByShell
	}
	return h
}

func (h hand) kinds() []Kind { return append([]Kind{h.kind}, h.extra...) }

// run changes files as the hand does.
func (w *world) run(h hand, command string) {
	if h.tools == nil {
		w.Sh(command)
		return
	}
	if result := h.tools.Bash(command); result.Code != 0 {
		w.TB.Fatalf("%s: %s", command, result.Stderr)
	}
}

// replace puts lines in the place of others.
func (w *world) replace(h hand, path string, from, to int, lines []string) {
	old := w.text(path)
	text := slices.Concat(old[:from], lines, old[to:])
	switch {
	case h.tools == nil:
		w.Write(path, join(text))
	case h.shell && from == len(old):
		w.run(h, "cat >> "+path+" <<'END'\n"+join(lines)+"END")
	case h.shell && to == from+1 && len(lines) == 1 && strings.TrimSpace(old[from]) != "" && len(w.counted(old[from:to])) == 1:
		w.run(h, fmt.Sprintf("sed -i 's|%s|%s|' %s", strings.TrimSpace(old[from]), strings.TrimSpace(lines[0]), path))
	case h.shell:
		w.run(h, fmt.Sprintf("{ head -n %d %s; cat <<'END'\n%sEND\ntail -n +%d %s; } > new.tmp && mv new.tmp %s", from, path, join(lines), to+1, path, path))
	case len(w.counted(old)) == 0 || w.chance(15):
		h.tools.Write(path, join(text))
	default:
		// What is replaced has to stand once in the file.
		first, last := from, to
		for len(w.counted(old[first:last])) == 0 && last < len(old) {
			last++
		}
		for len(w.counted(old[first:last])) == 0 && first > 0 {
			first--
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

// edit changes a file, or makes one, at random.
func (w *world) edit(h hand, path string) {
	text := w.text(path)
	at := w.random.IntN(len(text) + 1)
	to := min(len(text), at+1+w.random.IntN(3))
	what := w.random.IntN(10)
	w.note("%s %s in %s at %d-%d (%d)", h.by.prompt, h.kind, path, at, to, what)
	switch {
	case what < 4 || at == len(text):
		w.replace(h, path, at, at, w.lines(4, h.by, h.kinds()...))
	case what < 7:
		w.replace(h, path, at, to, w.lines(3, h.by, h.kinds()...))
	case what < 8:
		w.replace(h, path, at, at+1, []string{w.line(h.by, h.kinds()...)})
	case what < 9 && len(text) > 12:
		w.replace(h, path, at, to, nil)
	default:
		w.replace(h, path, len(text), len(text), w.lines(3, h.by, h.kinds()...))
	}
}

// create makes a file.
func (w *world) create(h hand) {
	path := w.newFile()
	lines := slices.Concat(w.lines(6, h.by, h.kinds()...), w.lines(6, h.by, h.kinds()...), w.lines(2, h.by, h.kinds()...))
	w.note("%s %s makes %s", h.by.prompt, h.kind, path)
	switch {
	case h.tools == nil:
		w.Write(path, join(lines))
	case h.shell:
		w.run(h, "mkdir -p sub && cat > "+path+" <<'END'\n"+join(lines)+"END")
	default:
		h.tools.Write(path, join(lines))
	}
}

// block chooses lines to move: at least three whose author is known, so that git can follow
// them.
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

// moveWithin moves a block to another place of its file. The lines stay their authors'.
func (w *world) moveWithin(h hand, path string) {
	from, to, ok := w.block(path)
	text := w.text(path)
	if !ok || len(text) < 2*(to-from)+2 {
		return
	}
	block := slices.Clone(text[from:to])
	w.note("%s %s moves %d-%d within %s", h.by.prompt, h.kind, from, to, path)
	rest := slices.Concat(text[:from], text[to:])
	at := len(rest)
	if from > len(text)/2 {
		at = 0
	}
	w.mark(block, MovedWithin)
	if h.tools == nil {
		w.Write(path, join(slices.Insert(rest, at, block...)))
		return
	}
	w.replace(h, path, from, to, nil)
	w.replace(h, path, at, at, block)
}

// moveBetween moves a block to another file.
func (w *world) moveBetween(h hand, path, target string) {
	from, to, ok := w.block(path)
	text := w.text(path)
	if !ok || path == target || len(text) < 2*(to-from) {
		return
	}
	block := slices.Clone(text[from:to])
	w.note("%s %s moves %d-%d of %s to %s", h.by.prompt, h.kind, from, to, path, target)
	w.mark(block, MovedBetween)
	for _, line := range w.counted(block) {
		w.facts[strings.TrimSpace(line)].mover = &h.by
	}
	w.moved[path], w.moved[target] = true, true
	w.replace(h, path, from, to, nil)
	at := w.random.IntN(len(w.text(target)) + 1)
	w.replace(h, target, at, at, block)
}

// rename gives a file another name.
func (w *world) rename(h hand, path string) {
	to := w.newFile()
	if w.TryGit("ls-files", "--error-unmatch", path).Code != 0 {
		return
	}
	w.note("%s %s renames %s to %s", h.by.prompt, h.kind, path, to)
	w.mark(w.text(path), Renamed)
	w.moved[path], w.moved[to] = true, true
	w.run(h, "mkdir -p sub && git mv "+path+" "+to)
}

// indent gives a stretch another indentation. The lines stay their authors'.
func (w *world) indent(h hand, path string) {
	text := w.text(path)
	from := w.random.IntN(len(text))
	to := min(len(text), from+2+w.random.IntN(6))
	w.note("%s %s indents %d-%d of %s", h.by.prompt, h.kind, from, to, path)
	w.mark(text[from:to], Indented)
	if h.tools != nil {
		w.run(h, fmt.Sprintf(`sed -i '%d,%ds/^\(.\)/\t\1/' %s`, from+1, to, path))
		return
	}
	for i := from; i < to; i++ {
		if text[i] != "" {
			text[i] = "\t" + text[i]
		}
	}
	w.Write(path, join(text))
}

// format runs a formatter that changes more than white space: the lines that it changes are
// of whoever runs it.
func (w *world) format(h hand, path string) {
	text := w.text(path)
	from := w.random.IntN(len(text))
	to := min(len(text), from+2+w.random.IntN(4))
	changed := false
	for i := from; i < to; i++ {
		line := strings.TrimSpace(text[i])
		if f := w.facts[line]; f == nil || strings.HasSuffix(line, ";") {
			continue
		}
		text[i] += ";"
		w.facts[line+";"] = &fact{writer: h.by, kinds: append([]Kind{Formatted}, h.extra...)}
		changed = true
	}
	if !changed {
		return
	}
	w.note("%s %s formats %d-%d of %s", h.by.prompt, h.kind, from, to, path)
	if h.tools == nil {
		w.Write(path, join(text))
		return
	}
	w.run(h, fmt.Sprintf(`sed -i '%d,%ds/)$/);/' %s`, from+1, to, path))
}

// step does one thing at random. Of several agents at once, each step names its file.
func (w *world) step(h hand, path string) {
	switch what := w.random.IntN(20); {
	case what < 11:
		w.edit(h, path)
	case what < 13:
		w.create(h)
	case what < 15:
		w.moveWithin(h, path)
	case what < 16:
		w.moveBetween(h, path, w.file())
	case what < 17:
		w.rename(h, path)
	case what < 18:
		w.indent(h, path)
	default:
		w.format(h, path)
	}
}
