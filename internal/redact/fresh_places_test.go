package redact_test

import (
	_ "embed"
	"strings"
)

//go:embed testdata/places.txt
var placesFile string

// syllables make up passwords that can be pronounced, as people choose them.
var syllables = strings.Fields("ba bo da du fa fi ga go ka ki lo lu ma mi na no pe po ra ru sa so ta ti va vo wa xo ya zu")

func (m maker) syllables(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(syllables[m.IntN(len(syllables))])
	}
	return b.String()
}

// shape makes values of one form.
type shape struct {
	name string
	make func(m maker) string
}

// passwordShapes returns the forms of passwords in places.
func passwordShapes() []shape {
	return []shape{
		{"random", func(m maker) string { return m.of(alnums, 16) }},
		{"human", func(m maker) string {
			s := m.syllables(3)
			return strings.ToUpper(s[:1]) + s[1:] + m.of(digits, 4) + string("!-_."[m.IntN(4)]) + m.of(lowers, 1)
		}},
	}
}

// tokenShapes returns the forms of random values in places.
func tokenShapes() []shape {
	return []shape{
		{"alnum", func(m maker) string { return m.of(alnums, 40) }},
		{"base64", func(m maker) string { return m.of(b64s, 42) + "Q=" }},
	}
}

// freshPlaces returns the places of testdata/places.txt with values of several shapes.
func freshPlaces() []freshKind {
	var kinds []freshKind
	for _, place := range strings.Split(placesFile, "\n== ")[1:] {
		name, text, _ := strings.Cut(place, "\n")
		text = strings.TrimSuffix(text, "\n") + "\n"
		add := func(s shape, mark string) {
			kinds = append(kinds, freshKind{"place/" + name + "/" + s.name, func(m maker) freshSecret {
				v := s.make(m)
				return freshSecret{strings.ReplaceAll(text, mark, v), []string{v}}
			}})
		}
		switch {
		case strings.Contains(text, "¶"):
			add(shape{"number", func(m maker) string { return "7" + m.of(digits, 5) }}, "¶")
		case strings.Contains(text, "¤"):
			for i, s := range tokenShapes() {
				// A URL holds no plain base64.
				if i == 0 || !strings.Contains(text, "://") {
					add(s, "¤")
				}
			}
		default:
			for _, s := range passwordShapes() {
				add(s, "§")
			}
		}
	}
	return kinds
}
