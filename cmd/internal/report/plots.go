package report

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// series is a series of values in a plot.
type series struct {
	name  markup
	class markup
	// values has a value for each bin.
	values []float64
}

// plot is a bar chart over time with a table of the same values.
type plot struct {
	id, title markup
	series    []series
	// format formats a value.
	format func(float64) string
}

// bins are consecutive time spans of one unit that cover the report.
type bins struct {
	starts []time.Time
	form   string // the layout of a bin's name, as in package time
}

// mostBins is the maximum number of bars side by side.
const mostBins = 60

// bins returns hours, days, weeks, months or years: the shortest unit with at most mostBins
// bins. Of more than mostBins years it returns the first ones.
func (r *Report) bins() bins {
	list := r.moments()
	if len(list) == 0 {
		return bins{}
	}
	from, to := list[0].at, list[len(list)-1].at
	year, month, day := from.Date()
	midnight := time.Date(year, month, day, 0, 0, 0, 0, from.Location())
	const week = 7
	for _, step := range []struct {
		first time.Time
		next  func(time.Time) time.Time
		form  string
	}{
		{from.Truncate(time.Hour), func(t time.Time) time.Time { return t.Add(time.Hour) }, "2 Jan 15:04"},
		{midnight, func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }, "2 Jan 2006"},
		{midnight.AddDate(0, 0, -(int(midnight.Weekday())+6)%week), func(t time.Time) time.Time { return t.AddDate(0, 0, week) }, "2 Jan 2006"},
		{time.Date(year, month, 1, 0, 0, 0, 0, from.Location()), func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }, "Jan 2006"},
	} {
		b := bins{form: step.form}
		for at := step.first; !at.After(to) && len(b.starts) <= mostBins; at = step.next(at) {
			b.starts = append(b.starts, at)
		}
		if len(b.starts) <= mostBins {
			return b
		}
	}
	b := bins{form: "2006"} // more than mostBins months
	for y := year; y <= to.Year() && len(b.starts) < mostBins; y++ {
		b.starts = append(b.starts, time.Date(y, 1, 1, 0, 0, 0, 0, from.Location()))
	}
	return b
}

// of returns the index of a time's bin.
func (b bins) of(t time.Time) int {
	at := 0
	for i, start := range b.starts {
		if t.Before(start) {
			break
		}
		at = i
	}
	return at
}

// overview writes the plots.
func (d *document) overview() {
	d.raw("<section id=\"overview\" tabindex=\"-1\" aria-labelledby=\"overview-title\">\n<h2 id=\"overview-title\">Over time</h2>\n<div class=\"plots\">\n")
	b := d.r.bins()
	values := func() []float64 { return make([]float64, len(b.starts)) }
	agent, person, unknown, read, written, sub, cost := values(), values(), values(), values(), values(), values(), values()
	for i := range d.r.Commits {
		c := &d.r.Commits[i]
		s, at := c.Share(), b.of(c.At)
		agent[at] += float64(s.Agent)
		person[at] += float64(s.Person)
		unknown[at] += float64(s.Unknown)
	}
	for i := range d.r.Turns {
		t := &d.r.Turns[i]
		at := b.of(t.At)
		read[at] += float64(t.Tokens.Input + t.Tokens.CacheRead + t.Tokens.CacheWrite)
		written[at] += float64(t.Tokens.Output)
		sub[at] += float64(t.SubagentTokens.Total())
		cost[at] += t.Cost
	}
	whole := func(v float64) string { return count(int64(v)) }
	tokens := func(v float64) string { return short(int64(v)) }
	d.plot(b, plot{"plot-lines", "Lines that commits add", []series{{"Agent", "agent", agent}, {"Person", "person", person}, {"Not recorded", "unknown", unknown}}, whole})
	d.plot(b, plot{"plot-tokens", "Tokens", []series{{"Written", "written", written}, {"Read", "read", read}, {"Subagents", "subagents", sub}}, tokens})
	if d.totals.cost > 0 {
		d.plot(b, plot{"plot-cost", "Cost", []series{{"Cost", "cost", cost}}, money})
	}
	d.raw("</div>\n</section>\n")
}

// The size of a plot, in its own units.
const (
	plotWidth, plotHeight = 600.0, 180.0
	plotTop, plotBottom   = 16.0, 28.0
	plotDigit             = 13.0 // the width of a digit where labels are largest, on narrow windows
)

// plot writes a plot and a table with its values. It omits a plot without values.
func (d *document) plot(b bins, p plot) {
	most := 0.0
	for i := range b.starts {
		sum := 0.0
		for _, s := range p.series {
			sum += s.values[i]
		}
		most = max(most, sum)
	}
	if most == 0 {
		return
	}
	top := ceiling(most)
	d.raw("<figure class=\"plot\"><figcaption><b>")
	d.raw(p.title)
	d.raw("</b>")
	if len(p.series) > 1 {
		for _, s := range p.series {
			d.raw(" <span class=\"key ")
			d.raw(s.class)
			d.raw("\">")
			d.raw(s.name)
			d.raw("</span>")
		}
	}
	d.raw("</figcaption>\n<svg viewBox=\"0 0 600 180\" role=\"img\" aria-labelledby=\"")
	d.raw(p.id + "-t " + p.id + "-d")
	d.raw("\"><title id=\"" + p.id + "-t\">" + p.title + "</title>")
	d.element("<desc id=\""+p.id+"-d\">", d.describe(b, p, most), "</desc>\n")
	left := 0.0
	for _, part := range []float64{0, 0.5, 1} {
		left = max(left, plotDigit*float64(utf8.RuneCountInString(p.format(top*part)))+6) //nolint:mnd // beside the line
	}
	for _, part := range []float64{0, 0.5, 1} {
		y := plotHeight - plotBottom - part*(plotHeight-plotBottom-plotTop)
		d.raw("<line class=\"grid\"")
		d.coordinate("x1", left)
		d.coordinate("x2", plotWidth)
		d.coordinate("y1", y)
		d.coordinate("y2", y)
		d.raw("/>")
		d.label(left-6, y+5, "end", p.format(top*part)) //nolint:mnd // beside the line
	}
	step := (plotWidth - left) / float64(len(b.starts))
	width := min(step*0.8, 28) //nolint:mnd // bars that aren't blocks
	for i, start := range b.starts {
		y := plotHeight - plotBottom
		x := left + step*float64(i) + (step-width)/2
		for _, s := range p.series {
			h := s.values[i] / top * (plotHeight - plotBottom - plotTop)
			if h > 0 {
				y -= h
				d.rect(s.class, x, y, width, h)
			}
		}
		if n := len(b.starts); n <= 3 || i == 0 || i == n-1 || i == n/2 && n > 8 {
			anchor := markup("middle")
			if n > 3 && i == n-1 {
				anchor = "end"
				x += width / 2
			}
			if i == 0 && n > 3 {
				anchor = "start"
				x -= width / 2
			}
			d.label(x+width/2, plotHeight-6, anchor, start.Format(b.form)) //nolint:mnd // below the bars
		}
	}
	d.raw("</svg>\n")
	d.table(b, p)
	d.raw("</figure>\n")
}

// describe returns a description of a plot in words.
func (d *document) describe(b bins, p plot, most float64) string {
	n := len(b.starts)
	var text strings.Builder
	text.WriteString("Bars from " + b.starts[0].Format(b.form) + " to " + b.starts[n-1].Format(b.form) + ", the largest " + p.format(most) + ". In all:")
	for _, s := range p.series {
		sum := 0.0
		for _, v := range s.values {
			sum += v
		}
		text.WriteString(" " + string(s.name) + " " + p.format(sum) + ".")
	}
	return text.String() + " The table below has all values."
}

// table writes the values of a plot.
func (d *document) table(b bins, p plot) {
	d.raw("<details class=\"fold\"><summary>Values</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" + p.title + "\"><table><caption class=\"hidden\">" + p.title + "</caption><thead><tr><th scope=\"col\">From</th>")
	for _, s := range p.series {
		d.raw("<th scope=\"col\" class=\"n\">" + s.name + "</th>")
	}
	d.raw("</tr></thead><tbody>\n")
	for i, start := range b.starts {
		sum := 0.0
		for _, s := range p.series {
			sum += s.values[i]
		}
		if sum == 0 {
			continue
		}
		d.element("<tr><th scope=\"row\">", start.Format(b.form), "</th>")
		for _, s := range p.series {
			d.element("<td class=\"n\">", p.format(s.values[i]), "</td>")
		}
		d.raw("</tr>\n")
	}
	d.raw("</tbody></table></div></details>\n")
}

// ceiling rounds v up to 1, 2 or 5 times a power of ten.
func ceiling(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v))) //nolint:mnd // decimal
	for _, m := range []float64{1, 2, 5} {
		if v <= m*power {
			return m * power
		}
	}
	return 10 * power //nolint:mnd // decimal
}
