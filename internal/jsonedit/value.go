package jsonedit

import (
	"slices"

	"github.com/tailscale/hujson"
)

// Member returns the value of the member name of the object v; if there are several, the last one,
// as JSON parsers do.
func Member(v hujson.Value, name string) (hujson.Value, bool) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return hujson.Value{}, false
	}
	for _, m := range slices.Backward(object.Members) {
		if literal, ok := m.Name.Value.(hujson.Literal); ok && literal.String() == name {
			return m.Value, true
		}
	}
	return hujson.Value{}, false
}

// MemberNames returns the names of an object's members, without duplicates.
func MemberNames(v hujson.Value) []string {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	var names []string
	for _, m := range object.Members {
		if literal, ok := m.Name.Value.(hujson.Literal); ok && !slices.Contains(names, literal.String()) {
			names = append(names, literal.String())
		}
	}
	return names
}

// StringOf returns v if it is a string, else "".
func StringOf(v hujson.Value) string {
	if literal, ok := v.Value.(hujson.Literal); ok && literal.Kind() == '"' {
		return literal.String()
	}
	return ""
}

// Elements returns the elements of an array, or none for any other value.
func Elements(v hujson.Value) []hujson.Value {
	if array, ok := v.Value.(*hujson.Array); ok {
		return array.Elements
	}
	return nil
}

// Quote returns a text as a JSON string.
func Quote(s string) string { return string(hujson.String(s)) }
