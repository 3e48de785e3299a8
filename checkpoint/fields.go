package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// fields are members of a JSON object that this version doesn't know.
type fields map[string]json.RawMessage

// over returns f with the members of others that f lacks.
func (f fields) over(others fields) fields {
	all := fields{}
	maps.Copy(all, others)
	maps.Copy(all, f)
	return all
}

// encodeFields returns v, a struct, as an indented JSON object with a final newline. The unknown
// members follow its own.
func encodeFields(v any, unknown fields) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode metadata: %w", err)
	}
	known := fieldIndex(reflect.TypeOf(v))
	data = bytes.TrimSuffix(data, []byte{'}'})
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		if _, ours := known[strings.ToLower(name)]; ours {
			continue
		}
		member, err := json.Marshal(fields{name: unknown[name]})
		if err != nil {
			return nil, fmt.Errorf("encode metadata: %w", err)
		}
		data = append(append(data, ','), member[1:len(member)-1]...)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, append(data, '}'), "", "  "); err != nil {
		return nil, fmt.Errorf("encode metadata: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// decodeFields decodes a JSON object into the struct that v points to, and returns the members that
// it doesn't know. The input may be of any version or program, so a member of the wrong type is
// skipped without an error. So is a deeply nested member, because indented it would be a thousand
// times as large.
func decodeFields(data []byte, v any) (fields, error) {
	var all fields
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("decode metadata: %w", err)
	}
	maps.DeleteFunc(all, func(_ string, raw json.RawMessage) bool { return depth(raw) > maxNested })
	into := reflect.ValueOf(v).Elem()
	for name, i := range fieldIndex(into.Type()) {
		raw, found := all[name]
		if !found {
			continue
		}
		delete(all, name)
		value := reflect.New(into.Field(i).Type())
		if json.Unmarshal(raw, value.Interface()) == nil {
			into.Field(i).Set(value.Elem())
		}
	}
	return all, nil
}

// maxNested is the maximum depth of a member.
const maxNested = 50

// depth returns the nesting depth of a valid JSON value.
func depth(raw []byte) int {
	deepest, open, text := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{', c == '[':
			open++
			deepest = max(deepest, open)
		case c == '}', c == ']':
			open--
		}
	}
	return deepest
}

// fieldIndex maps the JSON names of a struct's fields to their indexes.
func fieldIndex(t reflect.Type) map[string]int {
	index := make(map[string]int, t.NumField())
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" {
			index[name] = i
		}
	}
	return index
}
