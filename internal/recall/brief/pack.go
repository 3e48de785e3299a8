package brief

import (
	"fmt"
	"slices"
	"strings"
)

// maxNames is the limit of the names of files.
const maxNames = 900 * unit

// pack chooses what a brief has of its files: each is named, or a block in one of the
// parts.
type pack struct {
	files []view
	at    []slot // of the same index; further files are not named
	room  []size // left in each part; the tokens in the first are of all
}

// slot is the form that was chosen for a file, and its part.
type slot struct{ form, part int }

// newPack names as many files as fit.
func newPack(files []view, room []size) *pack {
	p := &pack{files: files, room: slices.Clone(room)}
	names := size{units: room[0].units / 2, cost: min(maxNames, room[0].cost/2)}
	if len(files) > 0 {
		p.take(0, sizeOf("- … 1000000 more files\n"))
	}
	for _, v := range files {
		need := v.forms[0].size
		if !need.within(names) {
			break
		}
		names = names.minus(need)
		p.take(0, need)
		p.at = append(p.at, slot{})
	}
	return p
}

// take and give change the room left in a part.
func (p *pack) take(part int, s size) {
	p.room[part].units -= s.units
	p.room[0].cost -= s.cost
}

func (p *pack) give(part int, s size) { p.take(part, size{}.minus(s)) }

// fits returns the last part with enough room.
func (p *pack) fits(s size) (part int, ok bool) {
	for part, room := range slices.Backward(p.room) {
		if s.units <= room.units && s.cost <= p.room[0].cost {
			return part, true
		}
	}
	return 0, false
}

// fill gives files fuller forms, always the one of the most value for its tokens, until
// nothing more fits.
func (p *pack) fill() {
	tried := make([][]bool, len(p.at))
	for i := range tried {
		tried[i] = make([]bool, len(p.files[i].forms))
	}
	for {
		file, next, ok := p.best(tried)
		if !ok {
			return
		}
		tried[file][next] = true
		p.raise(file, next)
	}
}

func (p *pack) best(tried [][]bool) (file, next int, ok bool) {
	most := 0.0
	for i, at := range p.at {
		v := &p.files[i]
		now := v.forms[at.form]
		for n, f := range v.forms {
			if tried[i][n] || f.value <= now.value {
				continue
			}
			worth := v.weight * (f.value - now.value) / float64(max(unit, f.size.cost-now.size.cost))
			if worth > most {
				file, next, most, ok = i, n, worth, true
			}
		}
	}
	return file, next, ok
}

// raise gives a file another form if there is room.
func (p *pack) raise(file, next int) {
	at, v := p.at[file], &p.files[file]
	p.give(at.part, v.forms[at.form].size)
	part, ok := p.fits(v.forms[next].size)
	if !ok {
		p.take(at.part, v.forms[at.form].size)
		return
	}
	p.take(part, v.forms[next].size)
	p.at[file] = slot{form: next, part: part}
}

// complete reports whether every file has its fullest form.
func (p *pack) complete() bool {
	for i, at := range p.at {
		for _, f := range p.files[i].forms {
			if f.value > p.files[i].forms[at.form].value {
				return false
			}
		}
	}
	return len(p.at) == len(p.files)
}

// names returns the files that are only named, a line each.
func (p *pack) names() string { return p.text(0, func(t tier) bool { return t == named }) }

// unnamed returns the line about files that are not named.
func (p *pack) unnamed() string {
	if rest := len(p.files) - len(p.at); rest > 0 {
		return fmt.Sprintf("- … %d more files\n", rest)
	}
	return ""
}

// blocks returns the blocks of a part.
func (p *pack) blocks(part int) string { return p.text(part, func(t tier) bool { return t != named }) }

func (p *pack) text(part int, want func(tier) bool) string {
	var b strings.Builder
	for i, at := range p.at {
		if f := p.files[i].forms[at.form]; at.part == part && want(f.tier) {
			b.WriteString(f.text)
		}
	}
	return b.String()
}

// report lists the files in the brief by their form.
func (p *pack) report(b *Brief) {
	for i, at := range p.at {
		name := p.files[i].path
		switch p.files[i].forms[at.form].tier {
		case whole:
			b.Whole = append(b.Whole, name)
		case inHunks:
			b.Hunks = append(b.Hunks, name)
		case outlined:
			b.Outlined = append(b.Outlined, name)
		case named:
			b.Named = append(b.Named, name)
		}
	}
}
