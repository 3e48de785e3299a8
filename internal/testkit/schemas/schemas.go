// Package schemas makes the JSON Schemas of what commands print, docs/formats/json, from the Go types
// of the outputs, and checks outputs with them.
package schemas

import (
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// dir is the folder of the schemas, relative to the root of the module.
const dir = "docs/formats/json"

// version is the value of the key "schema" of all outputs.
const version = 1

// lines is the name of the schema of a line of --jsonl, among the definitions of a file, and refs what
// comes before a definition's name in references.
const (
	lines = "jsonl"
	refs  = "#/$defs/"
)

// Shape is one form of a command's output.
type Shape struct {
	parts []any  // structs whose fields the object has, and *field for its list
	list  string // the key of the list that --jsonl prints as lines; empty: there is no --jsonl
}

// field is a list that is read entry by entry.
type field struct {
	key   string
	entry any
}

// Object returns the form of objects that have the fields of structs.
func Object(structs ...any) Shape { return Shape{parts: structs} }

// Lines returns s with a list that --jsonl prints as lines.
func (s Shape) Lines(key string) Shape {
	s.list = key
	return s
}

// List returns the form of objects with a list, which --jsonl prints as lines, and then the fields of
// structs.
func List(key string, entry any, structs ...any) Shape {
	return Shape{parts: append([]any{&field{key, entry}}, structs...), list: key}
}

// Types derives schemas from Go types. Those of structs are definitions, to which others refer.
type Types struct {
	known  map[reflect.Type]*jsonschema.Schema
	defs   map[string]*jsonschema.Schema
	values map[fieldKey][]any
}

// fieldKey is a field of a struct, by its name in JSON.
type fieldKey struct {
	of   reflect.Type
	name string
}

// NewTypes returns Types that know how the types of other packages are printed.
func NewTypes() *Types {
	return &Types{defs: map[string]*jsonschema.Schema{}, values: map[fieldKey][]any{}, known: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
		reflect.TypeFor[[]byte]():          {Type: "string", ContentEncoding: "base64"},
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[plain.GitPaths]():  {Type: "array", Items: &jsonschema.Schema{Type: "string"}},
	}}
}

// Enum lists all values of a type.
func Enum[T ~string](types *Types, values ...T) {
	s := &jsonschema.Schema{Type: "string"}
	for _, v := range values {
		s.Enum = append(s.Enum, string(v))
	}
	types.known[reflect.TypeFor[T]()] = s
}

// EnumOf lists all values of a field of strings, given its name in JSON.
func EnumOf[S any, T ~string](types *Types, name string, values ...T) {
	key := fieldKey{reflect.TypeFor[S](), name}
	for _, v := range values {
		types.values[key] = append(types.values[key], string(v))
	}
}

// Golden compares the schema of a command's output with its file, as testkit.Golden does. The name of
// the file is that of the command, with hyphens.
func (types *Types) Golden(t testing.TB, name, title string, shapes ...Shape) {
	t.Helper()
	objects := make([]*jsonschema.Schema, 0, len(shapes))
	var ofLines []*jsonschema.Schema
	for _, s := range shapes {
		object, entry, end := types.shape(s)
		objects = append(objects, object)
		if s.list != "" {
			ofLines = append(ofLines, entry, end)
		}
	}
	root := &jsonschema.Schema{AnyOf: objects}
	if len(objects) == 1 {
		root = objects[0]
	}
	root.Schema, root.Title, root.Defs = "https://json-schema.org/draft/2020-12/schema", title, map[string]*jsonschema.Schema{}
	if len(ofLines) > 0 {
		root.Defs[lines] = &jsonschema.Schema{Title: "A line of --jsonl", AnyOf: ofLines}
	}
	types.addUsed(root, root.Defs)
	testkit.Golden(t, fileOf(name), text(t, root))
}

// addUsed adds the definitions that a schema refers to.
func (types *Types) addUsed(s *jsonschema.Schema, used map[string]*jsonschema.Schema) {
	each(s, func(s *jsonschema.Schema) {
		if name, isRef := strings.CutPrefix(s.Ref, refs); isRef && used[name] == nil {
			used[name] = types.defs[name]
			types.addUsed(used[name], used)
		}
	})
}

// shape returns the schemas of an object, and of an entry of its list and the end of it as lines.
func (types *Types) shape(s Shape) (object, entry, end *jsonschema.Schema) {
	object = enveloped(&jsonschema.Schema{Type: "object"})
	for _, part := range s.parts {
		if f, isList := part.(*field); isList {
			object.Properties[f.key] = &jsonschema.Schema{Type: "array", Items: types.of(reflect.TypeOf(f.entry))}
			object.PropertyOrder = append(object.PropertyOrder, f.key)
			object.Required = append(object.Required, f.key)
			continue
		}
		fields := types.defs[strings.TrimPrefix(types.of(reflect.TypeOf(part)).Ref, refs)]
		for _, name := range fields.PropertyOrder {
			object.Properties[name] = fields.Properties[name]
		}
		object.PropertyOrder = append(object.PropertyOrder, fields.PropertyOrder...)
		object.Required = append(object.Required, fields.Required...)
	}
	if s.list == "" {
		return object, nil, nil
	}
	list := object.Properties[s.list]
	if list == nil || list.Items == nil {
		panic(fmt.Sprintf("%v has no list %q", s.parts, s.list))
	}
	entry = enveloped(list.Items.CloneSchemas())
	end = object.CloneSchemas()
	delete(end.Properties, s.list)
	other := func(name string) bool { return name == s.list }
	always := any(true)
	end.Properties["end"] = &jsonschema.Schema{Const: &always}
	end.PropertyOrder = slices.Insert(slices.DeleteFunc(slices.Clone(end.PropertyOrder), other), 1, "end")
	end.Required = slices.Insert(slices.DeleteFunc(slices.Clone(end.Required), other), 1, "end")
	return object, entry, end
}

// enveloped adds the key "schema" to the schema of an object.
func enveloped(s *jsonschema.Schema) *jsonschema.Schema {
	if s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{}
	}
	number := any(version)
	s.Properties["schema"] = &jsonschema.Schema{Const: &number}
	s.PropertyOrder = slices.Insert(slices.Clone(s.PropertyOrder), 0, "schema")
	s.Required = slices.Insert(slices.Clone(s.Required), 0, "schema")
	return s
}

// of returns the schema of a type. Lists, and keys that may be absent, are never null.
func (types *Types) of(t reflect.Type) *jsonschema.Schema {
	types.define(t)
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: types.known})
	if err != nil {
		panic(err)
	}
	each(s, func(s *jsonschema.Schema) {
		if s.Properties != nil {
			s.AdditionalProperties = nil
		}
		if slices.Contains(s.Types, "array") {
			notNull(s)
		}
		if s.Items != nil {
			notNull(s.Items)
		}
		for name, property := range s.Properties {
			if !slices.Contains(s.Required, name) {
				notNull(property)
			} else if property.Ref != "" && property.Types != nil {
				s.Properties[name] = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Ref: property.Ref}, {Type: "null"}}}
			}
		}
	})
	return s
}

// define makes definitions of the structs in a type.
func (types *Types) define(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		if types.known[t] == nil {
			types.define(t.Elem())
		}
	case reflect.Struct:
		if types.known[t] != nil || t.Name() == "" {
			return
		}
		name := strings.TrimSuffix(t.Name(), "JSON")
		name = strings.ToLower(name[:1]) + name[1:]
		if types.defs[name] != nil {
			name = path.Base(t.PkgPath()) + "-" + name
		}
		types.known[t] = &jsonschema.Schema{Ref: refs + name}
		types.defs[name] = &jsonschema.Schema{} // the name is taken
		fields, owners := fieldsOf(t)
		for _, f := range fields {
			types.define(f.Type)
		}
		def := types.of(reflect.StructOf(fields))
		for i, key := range def.PropertyOrder {
			def.Properties[key].Enum = append(def.Properties[key].Enum, types.values[fieldKey{owners[i], key}]...)
		}
		types.defs[name] = def
	default:
	}
}

// fieldsOf returns the fields of a struct that are printed, with those of embedded structs, named by
// their order, and the struct that each is of. Fields of an embedded pointer may be absent.
func fieldsOf(t reflect.Type) (fields []reflect.StructField, owners []reflect.Type) {
	var add func(t reflect.Type, more string)
	add = func(t reflect.Type, more string) {
		for f := range t.Fields() {
			key := f.Tag.Get("json")
			switch {
			case f.Anonymous && key == "" && f.Type.Kind() == reflect.Pointer:
				add(f.Type.Elem(), ",omitempty")
			case f.Anonymous && key == "":
				add(f.Type, more)
			case key != "" && key != "-":
				owners = append(owners, t)
				fields = append(fields, reflect.StructField{
					Name: fmt.Sprintf("F%d", len(fields)), Type: f.Type, Tag: reflect.StructTag(fmt.Sprintf("json:%q", key+more)),
				})
			}
		}
	}
	add(t, "")
	return fields, owners
}

func notNull(s *jsonschema.Schema) {
	types := slices.DeleteFunc(slices.Clone(s.Types), func(name string) bool { return name == "null" })
	switch {
	case len(types) == 1:
		s.Type, s.Types = types[0], nil
	case s.Ref != "":
		s.Types = nil
	}
}

// each calls visit for a schema and those inside it.
func each(s *jsonschema.Schema, visit func(*jsonschema.Schema)) {
	if s == nil {
		return
	}
	visit(s)
	each(s.Items, visit)
	each(s.AdditionalProperties, visit)
	for _, inner := range s.AnyOf {
		each(inner, visit)
	}
	for _, inner := range s.Properties {
		each(inner, visit)
	}
	for _, inner := range s.Defs {
		each(inner, visit)
	}
}
