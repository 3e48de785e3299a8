package jsonedit

import (
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// ReplaceString replaces a string. One with the same value keeps its spelling.
func (d *Document) ReplaceString(v hujson.Value, text string) error {
	if literal, ok := v.Value.(hujson.Literal); ok && literal.String() == text {
		return nil
	}
	return d.Replace(v, Quote(text))
}

// Ensure creates the object path[0] and the array path[1] in it if they are missing, and returns
// the paths of the created ones.
func (d *Document) Ensure(path []string) (made []string, err error) {
	outer, made, err := d.EnsureObject(path[0])
	if err != nil {
		return nil, err
	}
	inner, ok := Member(outer, path[1])
	if !ok {
		return append(made, path[0]+"."+path[1]), d.Add(outer, path[1], "[]")
	}
	if _, ok := inner.Value.(*hujson.Array); !ok {
		return nil, d.ErrorAt(inner.StartOffset, Quote(path[0]+"."+path[1])+" is not an array")
	}
	return made, nil
}

// EnsureObject creates the object called name if it is missing.
func (d *Document) EnsureObject(name string) (v hujson.Value, made []string, err error) {
	v, ok := Member(d.root, name)
	if !ok {
		if err := d.Add(d.root, name, "{}"); err != nil {
			return v, nil, err
		}
		made = []string{name}
		v, _ = d.Find(name)
	}
	if _, ok := v.Value.(*hujson.Object); !ok {
		return v, nil, d.ErrorAt(v.StartOffset, Quote(name)+" is not an object")
	}
	return v, made, nil
}

// Find returns the value at a path of members, and whether it exists.
func (d *Document) Find(path ...string) (hujson.Value, bool) {
	v := d.root
	for _, name := range path {
		next, ok := Member(v, name)
		if !ok {
			return v, false
		}
		v = next
	}
	return v, true
}

// RemoveEmpty removes the array outer.inner if it has become empty, then outer.
func (d *Document) RemoveEmpty(mayGo func(string) bool, outer, inner string) error {
	for _, path := range [][]string{{outer, inner}, {outer}} {
		v, ok := d.Find(path...)
		if !ok || len(listOf(v).items) > 0 || !mayGo(strings.Join(path, ".")) {
			return nil
		}
		parent, _ := d.Find(path[:len(path)-1]...)
		if err := d.RemoveValue(parent, v); err != nil {
			return err
		}
	}
	return nil
}

// RemoveValue removes v from its object parent.
func (d *Document) RemoveValue(parent, v hujson.Value) error {
	return d.Remove(parent, slices.IndexFunc(listOf(parent).items, func(it item) bool { return it.value.StartOffset == v.StartOffset }))
}
