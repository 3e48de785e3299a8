package secretkinds

import (
	_ "embed"
	"strings"
)

//go:embed places.txt
var placesFile string

// syllables make up passwords that can be pronounced, as people choose them.
var syllables = strings.Fields("ba bo da du fa fi ga go ka ki lo lu ma mi na no pe po ra ru sa so ta ti va vo wa xo ya zu") //nolint:gochecknoglobals // a read-only table

// Syllables returns n syllables.
func (m Maker) Syllables(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(syllables[m.IntN(len(syllables))])
	}
	return b.String()
}

// shape makes values of one form.
type shape struct {
	name string
	make func(m Maker) string
}

// passwordShapes returns the forms of passwords in places.
func passwordShapes() []shape {
	return []shape{
		{"random", func(m Maker) string { return m.Of(Alnums, 16) }},
		{"human", func(m Maker) string {
			s := m.Syllables(3)
			return strings.ToUpper(s[:1]) + s[1:] + m.Of(Digits, 4) + string("!-_."[m.IntN(4)]) + m.Of(Lowers, 1)
		}},
	}
}

// tokenShapes returns the forms of random values in places.
func tokenShapes() []shape {
	return []shape{
		{"alnum", func(m Maker) string { return m.Of(Alnums, 40) }},
		{"base64", func(m Maker) string { return m.Of(Base64, 42) + "Q=" }},
	}
}

// places returns the places of places.txt with values of several shapes.
func places() []Kind {
	var kinds []Kind
	for _, place := range strings.Split(placesFile, "\n== ")[1:] {
		name, text, _ := strings.Cut(place, "\n")
		text = strings.TrimSuffix(text, "\n") + "\n"
		add := func(s shape, mark string) {
			kinds = append(kinds, Kind{"place/" + name + "/" + s.name, func(m Maker) Secret {
				v := s.make(m)
				return Secret{strings.ReplaceAll(text, mark, v), []string{v}}
			}})
		}
		switch {
		case strings.Contains(text, "¶"):
			add(shape{"number", func(m Maker) string { return "7" + m.Of(Digits, 5) }}, "¶")
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
