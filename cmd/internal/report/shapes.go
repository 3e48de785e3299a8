package report

import (
	"math"
	"strconv"
)

func (p *page) rect(class markup, x, y, w, h float64) {
	p.raw("<rect class=\"" + class + "\"")
	p.coordinate("x", x)
	p.coordinate("y", y)
	p.coordinate("width", w)
	p.coordinate("height", h)
	p.raw("/>")
}

func (p *page) label(x, y float64, anchor markup, text string) {
	p.raw("<text text-anchor=\"" + anchor + "\"")
	p.coordinate("x", x)
	p.coordinate("y", y)
	p.element(">", text, "</text>")
}

func (p *page) coordinate(name markup, v float64) {
	p.attr(name, strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)) //nolint:mnd // tenths
}
