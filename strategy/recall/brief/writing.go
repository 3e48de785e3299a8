package brief

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/strategy/recall"
)

// maxTitle is more than the length of a title, in bytes.
const maxTitle = 160

// writing holds the state of a brief while it is written.
type writing struct {
	material Material
	head     string
	// cost is the limit of all parts in fractions of tokens, contents that of the contents
	// in them.
	cost, contents int
}

// chosen is a section with the number of its lines in the brief.
type chosen struct {
	section
	taken int
}

// write fills the brief with the sections and, in the remaining room, contents of files.
func (w *writing) write(b *Brief, list []section, files []view) {
	second := "Checkpoint " + shownID(w.material) + ", continued:\n"
	two := w.material.Parts > 1 && w.material.Kind != Short
	room := size{units: MaxUnits, cost: w.cost - 2*unit}.minus(sizeOf(w.head))
	if two {
		room.units += MaxUnits - newestWidth - maxTitle
		room = room.minus(sizeOf(second)).minus(size{cost: maxTitle / 2 * unit})
	}
	parts := []string{w.head}
	if two {
		parts = append(parts, second)
	}
	picked := choose(list, room)
	at := lay(parts, picked)
	w.addContents(b, parts, at, files)
	if two && parts[1] == second {
		parts = parts[:1]
	}
	b.Parts = parts
	listed := 0
	if at := slices.IndexFunc(picked, func(c chosen) bool { return strings.HasPrefix(c.title, "**Files** ") }); at >= 0 {
		listed = picked[at].taken
	}
	for i := range files {
		name := files[i].path
		if !slices.Contains(b.Whole, name) && !slices.Contains(b.Hunks, name) && i < listed {
			b.Named = append(b.Named, name)
		}
	}
}

// choose takes as many lines of the sections as fit into room: first each section's lines
// up to its own limit, then the remaining lines, one per section in turn.
func choose(list []section, room size) []chosen {
	picked := make([]chosen, len(list))
	used := make([]int, len(list))
	for i, s := range list {
		picked[i].section = s
	}
	take := func(i, most int) bool {
		c := &picked[i]
		if c.most > 0 && (most == 0 || most > c.most) {
			most = c.most
		}
		if c.taken == len(c.lines) {
			return false
		}
		need := sizeOf(c.next())
		if !need.within(room) || most > 0 && used[i]+need.cost > most && c.taken > 0 {
			return false
		}
		room = room.minus(need)
		used[i] += need.cost
		c.taken++
		return true
	}
	for i, s := range list {
		for take(i, s.least) {
		}
	}
	for again := true; again; {
		again = false
		for i := range list {
			again = take(i, 0) || again
		}
	}
	return picked
}

// next returns the next line to take. The first one includes the section's title and the
// line about omitted lines.
func (c *chosen) next() string {
	line := c.lines[c.taken]
	if c.last {
		line = c.lines[len(c.lines)-1-c.taken]
	}
	if c.taken == 0 {
		line = c.title + line + c.rest(100_000)
	}
	return line
}

// texts returns the taken lines and the line about the omitted ones, without the title.
func (c *chosen) texts() []string {
	if c.taken == 0 {
		return nil
	}
	rest := c.rest(len(c.lines) - c.taken + c.over)
	if c.last {
		return append([]string{rest}, c.lines[len(c.lines)-c.taken:]...)
	}
	return append(slices.Clone(c.lines[:c.taken]), rest)
}

// text returns the section with its title, or "" if no line was taken.
func (c *chosen) text() string {
	if c.taken == 0 {
		return ""
	}
	return c.title + strings.Join(c.texts(), "")
}

// lay appends the sections to the parts in their order and returns the number of the last
// part that was used. A section that continues in the next part repeats its title there.
func lay(parts []string, picked []chosen) (at int) {
	left := func(text string) bool { return utf16Len(parts[at])+utf16Len(text) <= MaxUnits }
	for i := range picked {
		title := picked[i].title
		for _, line := range picked[i].texts() {
			if !left(title+line) && at+1 < len(parts) {
				at++
				title = picked[i].title
			}
			if line != "" && left(title+line) {
				parts[at] += title + line
				title = ""
			}
		}
	}
	return at
}

// addContents appends contents of files to parts[at] and later parts.
func (w *writing) addContents(b *Brief, parts []string, at int, files []view) {
	used := 0
	for _, part := range parts[:at+1] {
		used += tokenCost(part)
	}
	room := min(w.contents, w.cost-used-2*unit)
	if w.material.Kind != Drift {
		room = min(room, used*contentsShare/(contentsWhole-contentsShare))
	}
	for i := range files {
		v := &files[i]
		block, whole := w.block(v, room)
		if block == "" {
			continue
		}
		need := tokenCost(block)
		to := at
		for to < len(parts) && utf16Len(parts[to])+utf16Len(block) > MaxUnits {
			to++
		}
		if to == len(parts) || to > at && need+tokenCost(parts[to]) > room || need > room {
			continue
		}
		if to > at {
			room -= tokenCost(parts[to])
			at = to
		}
		parts[to] += block
		room -= need
		if whole {
			b.Whole = append(b.Whole, v.path)
		} else {
			b.Hunks = append(b.Hunks, v.path)
		}
	}
}

// block returns the text shown for an uncommitted file: its content or its changes,
// whichever is shorter; empty if both are too long.
func (w *writing) block(v *view, room int) (text string, whole bool) {
	if !v.known {
		return "", false
	}
	if w.material.Kind == Drift {
		return v.changes(min(room, maxDriftCost)), false
	}
	if v.tracked == recall.Committed || v.tracked == "" && len(w.material.Checkpoint.State.Analysis.Progress.Commits) > 0 || isMade(v.path) {
		return "", false
	}
	most := min(room, maxBlockCost)
	if len(v.content) < maxBlockCost/unit*maxBytes {
		text = v.whole()
	}
	changes := v.changes(most)
	if text != "" && tokenCost(text) <= most && (changes == "" || len(text) <= len(changes)) {
		return text, true
	}
	return changes, false
}

// maxBytes is more than the average number of bytes per token.
const maxBytes = 5
