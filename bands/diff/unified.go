package diff

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"

	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/tree"
)

// contextLines is how many unchanged lines stand around a change.
const contextLines = 3

// exactLines is up to how many lines the shortest difference is looked for;
// above, what is found in exactTime.
const (
	exactLines = 20_000
	exactTime  = 2 * time.Second
)

// lineOp is a run of lines: kept ' ', removed '-' or added '+'.
type lineOp struct {
	kind  byte
	lines int
}

// manyLines is up to how many lines, between the first and the last that
// differ, are compared; more count as replaced. Each takes about 100 bytes.
const manyLines = 400_000

// lineDiff compares two texts by lines. Only what is between the first and the
// last line that differ takes memory.
func lineDiff(a, b string) []lineOp {
	head := commonHead(a, b)
	tail := commonTail(a[head:], b[head:])
	var ops []lineOp
	add := func(kind byte, lines int) {
		if lines > 0 {
			ops = append(ops, lineOp{kind, lines})
		}
	}
	add(' ', lineCount(a[:head]))
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	if n, m := lineCount(x), lineCount(y); n == 0 || m == 0 || n+m > manyLines {
		add('-', n)
		add('+', m)
	} else {
		ops = append(ops, middleDiff(x, y)...)
	}
	add(' ', lineCount(a[len(a)-tail:]))
	return ops
}

// commonHead is the length of the whole lines that both texts begin with.
func commonHead(a, b string) int {
	n, limit := 0, min(len(a), len(b))
	for n < limit && a[n] == b[n] {
		n++
	}
	if n == len(a) && n == len(b) {
		return n
	}
	return strings.LastIndexByte(a[:n], '\n') + 1
}

// commonTail is the length of the whole lines that both texts end with.
func commonTail(a, b string) int {
	n, limit := 0, min(len(a), len(b))
	for n < limit && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	// The tail begins after the end of a line in both texts, or is all of one.
	for ; n > 0; n-- {
		if startsLine(a, len(a)-n) && startsLine(b, len(b)-n) {
			break
		}
	}
	return n
}

func startsLine(text string, at int) bool { return at == 0 || text[at-1] == '\n' }

// lineCount counts lines; the last may lack its end.
func lineCount(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

func middleDiff(a, b string) []lineOp {
	d := diffmatchpatch.New()
	d.DiffTimeout = 0
	if strings.Count(a, "\n")+strings.Count(b, "\n") > exactLines {
		d.DiffTimeout = exactTime
	}
	x, y, _ := d.DiffLinesToRunes(a, b)
	parts := d.DiffMainRunes(x, y, false)
	ops := make([]lineOp, 0, len(parts))
	for _, part := range parts {
		op := lineOp{kind: ' ', lines: utf8.RuneCountInString(part.Text)}
		switch part.Type {
		case diffmatchpatch.DiffDelete:
			op.kind = '-'
		case diffmatchpatch.DiffInsert:
			op.kind = '+'
		case diffmatchpatch.DiffEqual:
		}
		ops = append(ops, op)
	}
	return ops
}

// Unified writes the diff of the paths' files as git does, with three lines
// of context. It returns the paths of the tree that changed, or went, before they
// could be compared; nothing is written of these.
func Unified(ctx context.Context, w io.Writer, old, now Side, o Options) (unread []string, err error) {
	o.NoCounts = true
	list, err := Stat(ctx, old, now, o)
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriter(w)
	for i := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := list[i].unified(out, old, now)
		if errors.Is(err, capture.ErrMoved) {
			unread = append(unread, list[i].Path)
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	return unread, out.Flush()
}

func (d *File) unified(w *bufio.Writer, old, now Side) error {
	if tree.IsDir(d.old) || tree.IsDir(d.now) {
		if d.Kind != Retyped {
			return nil
		}
	}
	if d.Kind == Retyped {
		return d.retyped(w, old, now)
	}
	same := d.old != nil && d.now != nil && d.old.Content.Hash == d.now.Content.Hash && d.old.Target == d.now.Target
	var a, b string
	var ok bool
	if !same { // before anything is written
		var err error
		if a, b, ok, err = d.texts(old, now); err != nil {
			return err
		}
	}
	from, to := "a/"+cmp.Or(d.OldPath, d.Path), "b/"+d.Path
	_, _ = fmt.Fprintf(w, "diff --git %s %s\n", quoted(from), quoted(to))
	d.header(w)
	if d.old == nil {
		from = "/dev/null"
	}
	if d.now == nil {
		to = "/dev/null"
	}
	if same {
		return nil
	}
	if !ok {
		_, err := fmt.Fprintf(w, "Binary files %s and %s differ\n", quoted(from), quoted(to))
		return err
	}
	if a == b {
		return nil
	}
	_, _ = fmt.Fprintf(w, "--- %s\n+++ %s\n", quoted(from), quoted(to))
	return hunks(w, lines(a), lines(b), lineDiff(a, b))
}

// retyped shows a change of type as git does: one file goes, another comes.
func (d *File) retyped(w *bufio.Writer, old, now Side) error {
	come := File{Path: d.Path, Kind: Added, now: d.now}
	if !tree.IsDir(d.now) {
		if _, _, _, err := come.texts(old, now); err != nil {
			return err // before anything is written
		}
	}
	if !tree.IsDir(d.old) {
		gone := File{Path: d.Path, Kind: Deleted, old: d.old}
		if err := gone.unified(w, old, now); err != nil {
			return err
		}
	}
	if tree.IsDir(d.now) {
		return nil
	}
	return come.unified(w, old, now)
}

func (d *File) header(w *bufio.Writer) {
	switch {
	case d.old == nil:
		_, _ = fmt.Fprintf(w, "new file mode %s\n", gitMode(d.now))
	case d.now == nil:
		_, _ = fmt.Fprintf(w, "deleted file mode %s\n", gitMode(d.old))
	case gitMode(d.old) != gitMode(d.now):
		_, _ = fmt.Fprintf(w, "old mode %s\nnew mode %s\n", gitMode(d.old), gitMode(d.now))
	}
	if d.OldPath != "" {
		_, _ = fmt.Fprintf(w, "rename from %s\nrename to %s\n", quoted(d.OldPath), quoted(d.Path))
	}
}

func gitMode(e *tree.Entry) string {
	if e.Kind == tree.Symlink {
		return "120000"
	}
	return fmt.Sprintf("100%03o", e.Attr.Mode&0o777)
}

// quoted is a path as git writes it: in quotes where it has bytes that would
// be mistaken.
func quoted(path string) string {
	plain := utf8.ValidString(path)
	for i := 0; plain && i < len(path); i++ {
		plain = path[i] >= ' ' && path[i] != '"' && path[i] != '\\' && path[i] != 0x7f
	}
	if plain {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// lines splits a text after each line end.
func lines(text string) []string {
	list := strings.SplitAfter(text, "\n")
	if list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list
}

// hunks writes the changes with the lines around them.
func hunks(w *bufio.Writer, a, b []string, ops []lineOp) error {
	h := hunkWriter{w: w, a: a, b: b}
	for i, op := range ops {
		if op.kind != ' ' {
			h.change(op)
			continue
		}
		last := i == len(ops)-1
		switch {
		case len(h.text) == 0:
			h.skip(op.lines)
			h.lead(min(op.lines, contextLines), last)
		case last || op.lines > 2*contextLines:
			h.keep(min(op.lines, contextLines))
			h.flush()
			h.skip(op.lines - min(op.lines, contextLines))
			h.lead(min(op.lines-min(op.lines, contextLines), contextLines), last)
		default:
			h.keep(op.lines)
		}
	}
	h.flush()
	return nil
}

// hunkWriter gathers the lines of a hunk.
type hunkWriter struct {
	w              *bufio.Writer
	a, b           []string
	i, j           int // lines passed of both
	fromI, fromJ   int // where the hunk began
	text           []string
	before         int // lines of context that the next hunk begins with
	countI, countJ int
}

func (h *hunkWriter) skip(n int) { h.i, h.j = h.i+n, h.j+n }

// lead remembers how many lines before the next change belong to its hunk.
func (h *hunkWriter) lead(n int, last bool) {
	h.before = n
	if last {
		h.before = 0
	}
}

func (h *hunkWriter) begin() {
	if len(h.text) > 0 {
		return
	}
	h.fromI, h.fromJ, h.countI, h.countJ = h.i-h.before, h.j-h.before, 0, 0
	h.i, h.j = h.fromI, h.fromJ
	n := h.before
	h.before = 0
	h.keep(n)
}

func (h *hunkWriter) keep(n int) {
	for _, line := range h.a[h.i : h.i+n] {
		h.text = append(h.text, " "+ended(line))
	}
	h.skip(n)
	h.countI, h.countJ = h.countI+n, h.countJ+n
}

func (h *hunkWriter) change(op lineOp) {
	h.begin()
	if op.kind == '-' {
		for _, line := range h.a[h.i : h.i+op.lines] {
			h.text = append(h.text, "-"+ended(line))
		}
		h.i, h.countI = h.i+op.lines, h.countI+op.lines
		return
	}
	for _, line := range h.b[h.j : h.j+op.lines] {
		h.text = append(h.text, "+"+ended(line))
	}
	h.j, h.countJ = h.j+op.lines, h.countJ+op.lines
}

// ended is a line with its end; one that has none says so, as in git.
func ended(line string) string {
	if strings.HasSuffix(line, "\n") {
		return line
	}
	return line + "\n\\ No newline at end of file\n"
}

func (h *hunkWriter) flush() {
	if len(h.text) == 0 {
		return
	}
	_, _ = fmt.Fprintf(h.w, "@@ -%s +%s @@\n", span(h.fromI, h.countI), span(h.fromJ, h.countJ))
	for _, line := range h.text {
		_, _ = h.w.WriteString(line)
	}
	h.text = h.text[:0]
}

// span is where lines are: the line before, where there are none.
func span(from, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return strconv.Itoa(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, count)
}
