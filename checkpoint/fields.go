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

// fields are JSON object members that this version doesn't know.
type fields map[string]json.RawMessage

// over is f with the members of others that it hasn't.
func (f fields) over(others fields) fields {
	all := fields{}
	maps.Copy(all, others)
	maps.Copy(all, f)
	return all
}

// encodeFields is v, a struct, as an indented JSON object with a final newline,
// the unknown members behind its own.
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

// decodeFields reads a JSON object into the struct that v points to, and
// returns the members that it doesn't know. A member of the wrong type is left
// out and does not spoil the others: what is read may be of any version or
// make. So is one that is nested without end, for indented it would be a
// thousand times its size.
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

// maxNested is how deep a member may be nested.
const maxNested = 50

// depth is how deep a valid JSON value is nested.
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
