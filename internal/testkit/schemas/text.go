package schemas

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// width is the maximum length of a line with a whole object or list.
const width = 120

// text returns a schema as the text of its file: "$schema" and the title first, short objects and lists
// on one line.
func text(t testing.TB, s *jsonschema.Schema) string {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := write(&b, data, ""); err != nil {
		t.Fatal(err)
	}
	return b.String() + "\n"
}

// schemaKey is a key of the root only.
const schemaKey = `"$schema": `

// write writes a value that begins on a line with an indentation.
func write(b *strings.Builder, value []byte, indent string) error {
	if value[0] != '{' && value[0] != '[' || len(indent)+len(value) <= width {
		b.WriteString(spaced(value))
		return nil
	}
	members, err := membersOf(value)
	if err != nil {
		return err
	}
	b.WriteByte(value[0])
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n" + indent + "  " + m.name)
		if err := write(b, m.value, indent+"  "); err != nil {
			return err
		}
	}
	b.WriteString("\n" + indent + string(value[len(value)-1:]))
	return nil
}

// member is a value in an object or a list; name is empty in a list.
type member struct {
	name  string
	value json.RawMessage
}

func membersOf(value []byte) (members []member, err error) {
	d := json.NewDecoder(bytes.NewReader(value))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		var m member
		if value[0] == '{' {
			var name json.RawMessage
			token, err := d.Token()
			if err != nil {
				return nil, err
			}
			if name, err = json.Marshal(token); err != nil {
				return nil, err
			}
			m.name = string(name) + ": "
		}
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	if slices.ContainsFunc(members, func(m member) bool { return m.name == schemaKey }) {
		first := []string{`"title": `, schemaKey}
		slices.SortStableFunc(members, func(a, b member) int {
			return cmp.Compare(slices.Index(first, b.name), slices.Index(first, a.name))
		})
	}
	return members, nil
}

// spaced adds spaces after commas and colons.
func spaced(value []byte) string {
	var b strings.Builder
	inString := false
	for i, c := range value {
		if c == '"' && (i == 0 || value[i-1] != '\\') {
			inString = !inString
		}
		b.WriteByte(c)
		if !inString && (c == ',' || c == ':') {
			b.WriteByte(' ')
		}
	}
	return b.String()
}
