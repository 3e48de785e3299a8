package redact

import (
	"bytes"

	"github.com/seed-3aff656d/entire/internal/redact/chars"
	"github.com/seed-3aff656d/entire/internal/redact/ownrules"
)

// maxNamed is the maximum length of a string that is searched together with its name.
// Longer ones are texts.
const maxNamed = 8192

// maxKinds is the maximum number of names that a writer caches.
const maxKinds = 4096

// nameKind is the classification of a name: by our own rules, and whether it contains a
// keyword of gitleaks' rules.
type nameKind struct {
	kind   ownrules.Kind
	listed bool
}

// named lists the secrets in segment i that are identified by the name of its member, or by
// the option before it in a list of arguments.
func (w *writer) named(r *Redactor, i int, text []byte) []Finding {
	g := w.segs[i]
	if g.end-g.begin < ownrules.MinValue || g.end-g.begin > maxNamed {
		return nil
	}
	if g.before > 0 {
		option := w.segs[g.before-1]
		if f := w.argument(r, option.read(text, nil), g.read(text, nil)); f != nil {
			return f
		}
	}
	if g.name == 0 {
		return nil
	}
	label := w.segs[g.name-1]
	name := label.read(text, nil)
	k := w.kindOf(r, name)
	if k == (nameKind{}) {
		return nil
	}
	return r.findNamed(name, g.read(text, nil), k)
}

// argument lists the secrets in a value after an option or a header's name.
func (w *writer) argument(r *Redactor, option, value []byte) []Finding {
	if len(option) < 2 || len(option) > ownrules.MaxName {
		return nil
	}
	if option[0] != '-' {
		// The name of a header or a variable, as in [["Cookie", "..."], ["X-Api-Key",
		// "..."]]. After most names only a random value counts: lists of names are more
		// common than lists of pairs. The names of Authorization and Cookie headers contain
		// one of these rare letters.
		header := bytes.ContainsAny(option, "zZkK")
		random := bytes.ContainsAny(option, "_-") && ownrules.IsRandom(value, 12)
		if !header && !random {
			return nil
		}
		switch k := w.kindOf(r, option); k.kind {
		case ownrules.KindNone:
			return nil
		case ownrules.KindHeader, ownrules.KindCookie:
			return r.findNamed(option, value, k)
		default:
			if random {
				return r.findNamed(option, value, k)
			}
			return nil
		}
	}
	if value[0] == '-' {
		return nil // another option
	}
	switch string(option) {
	case "-u", "--user", "--proxy-user":
		user, password, ok := bytes.Cut(value, []byte(":"))
		if !ok || len(password) < ownrules.MinValue ||
			!bytes.ContainsFunc(user, func(c rune) bool { return c < 128 && chars.IsAlpha(byte(c)) }) ||
			bytes.ContainsAny(value, " /") || ownrules.IsPlaceholder(password) {
			return nil
		}
		return []Finding{ownFinding(ownrules.RuleCommand, value, span{len(user) + 1, len(value)})}
	case "-b", "--cookie":
		if bytes.IndexByte(value, '=') > 0 && ownrules.HasMixture(value) {
			return []Finding{ownFinding(ownrules.RuleCookie, value, span{0, len(value)})}
		}
		return nil
	}
	k := w.kindOf(r, bytes.TrimLeft(option, "-"))
	if k == (nameKind{}) {
		return nil
	}
	return r.findNamed(bytes.TrimLeft(option, "-"), value, k)
}

func ownFinding(rule int, text []byte, s span) Finding {
	return Finding{Rule: ownrules.Rules[rule].ID, Secret: string(text[s.begin:s.end]), Start: s.begin, End: s.end}
}

// lastKinds is the number of slots for names that are found without the map.
const lastKinds = 256

type seenName struct {
	name string
	kind nameKind
}

// kindOf returns the classification of a name. A transcript repeats few names, so the name
// is first compared with the last one in its slot.
func (w *writer) kindOf(r *Redactor, name []byte) nameKind {
	if len(name) == 0 || len(name) > ownrules.MaxName {
		return nameKind{}
	}
	slot := &w.last[(len(name)*37+int(name[0])*5+int(name[len(name)-1])*11+int(name[len(name)/2]))%lastKinds]
	if *slot == nil || (*slot).name != string(name) {
		seen := w.kinds[string(name)]
		if seen == nil {
			if w.kinds == nil || len(w.kinds) >= maxKinds {
				w.kinds = make(map[string]*seenName)
			}
			// Whether it contains a keyword of gitleaks' rules.
			listed := r.rulesIn(name) != ruleSet{}
			seen = &seenName{string(name), nameKind{ownrules.Classify(name), listed}}
			w.kinds[seen.name] = seen
		}
		*slot = seen
	}
	return (*slot).kind
}

// findNamed lists the secrets in a value that belongs to a name.
func (r *finder) findNamed(name, value []byte, k nameKind) []Finding {
	if k.kind == ownrules.KindHeader {
		if s := spanOf(ownrules.Credentials(value, 0)); s.end > s.begin {
			return []Finding{ownFinding(ownrules.RuleHeader, value, s)}
		}
	} else if k.kind != ownrules.KindNone && ownrules.IsSecretValue(bytes.TrimSpace(value), k.kind, ownrules.StyleQuoted) {
		rule := ownrules.RuleName
		if k.kind == ownrules.KindCookie {
			rule = ownrules.RuleCookie
		}
		return []Finding{ownFinding(rule, value, span{0, len(value)})}
	}
	if !k.listed {
		return nil
	}
	// The form that gitleaks matches in a text: name = "value".
	text := make([]byte, 0, len(name)+len(value)+8)
	text = append(append(text, name...), ` = "`...)
	from := len(text)
	text = append(append(text, value...), '"')
	var found []Finding
	for _, f := range r.find(text, allRules()) {
		if f.Start >= from && f.End < len(text) && !isNamed(&f, text) {
			f.Start, f.End = f.Start-from, f.End-from
			found = append(found, f)
		}
	}
	return found
}
