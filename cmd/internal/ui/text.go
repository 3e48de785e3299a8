package ui

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// Size returns the size of the terminal of Err, where questions are asked. If there is
// none, or it has no size, the result is 80 columns and 24 lines.
func (s Streams) Size() (width, height int) {
	const columns, lines = 80, 24
	if f, ok := s.Err.(*os.File); ok && s.Terminal.Err {
		if width, height, err := term.GetSize(int(f.Fd())); err == nil && width > 0 && height > 0 {
			return width, height
		}
	}
	return columns, lines
}

// Room returns the number of columns of the terminal of Out minus used, at least 16, or
// fixed if there is no terminal.
func (s Streams) Room(fixed, used int) int {
	const least = 16
	width, _, ok := outSize(s)
	if !ok {
		return fixed
	}
	return max(width-used, least)
}

// wrapOut wraps text to the width of the terminal of Out. It returns text itself if there
// is none.
func (s Streams) wrapOut(text string) string {
	width, _, ok := outSize(s)
	if !ok {
		return text
	}
	return WrapHanging(text, width)
}

// Columns returns the width of the terminal of Out, 0 if there is none or it has no size.
func (s Streams) Columns() int {
	width, _, _ := outSize(s)
	return width
}

// outSize returns the size of the terminal of Out; ok is false if there is none or it has
// no size.
func outSize(s Streams) (width, height int, ok bool) {
	o, isFile := s.Out.(*output)
	if !isFile {
		o = s.screen
	}
	if o == nil || !s.Terminal.Out {
		return 0, 0, false
	}
	width, height, err := term.GetSize(int(o.file.Fd()))
	return width, height, err == nil && width > 0 && height > 0
}

// Fits reports whether the terminal of Out shows the text without scrolling. Without a
// terminal every text fits.
func (s Streams) Fits(text string) bool {
	width, height, ok := outSize(s)
	if !ok {
		return true
	}
	rows := 0
	for line := range strings.Lines(text) {
		rows += 1 + max(0, Width(line)-1)/width
	}
	return rows < height
}

// Thousands formats a number with commas: 12,345.
func Thousands(n int64) string {
	const thousand = 1000
	if n < thousand {
		return strconv.FormatInt(n, 10)
	}
	return fmt.Sprintf("%s,%03d", Thousands(n/thousand), n%thousand)
}

// Size formats a number of bytes with at most four digits and a unit: 50G, 1.5G, 812K.
// Units are powers of 1024.
func Size(n int64) string {
	const unit = 1024
	if n < unit {
		return strconv.FormatInt(n, 10) + "B"
	}
	return scaled(n, unit, "KMGTPE")
}

// Count formats a number in at most four characters, with a unit of 1000: 812, 1.5k, 24k, 3.1M.
func Count(n int64) string {
	const unit = 1000
	if n < unit {
		return strconv.FormatInt(n, 10)
	}
	return scaled(n, unit, "kMGTPE")
}

// scaled formats a number in the largest of the units, which are powers of base.
func scaled(n int64, base float64, units string) string {
	value := float64(n) / base
	for ; value >= base-0.5 && len(units) > 1; value /= base { // it would be rounded to base
		units = units[1:]
	}
	if text := strconv.FormatFloat(value, 'f', 1, 64); value < 10 && !strings.HasSuffix(text, ".0") { //nolint:mnd // one digit and another
		return text + units[:1]
	}
	return strconv.FormatFloat(value, 'f', 0, 64) + units[:1]
}
