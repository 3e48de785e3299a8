package schemas

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed-3aff656d/entire/bands"
)

// Output is the output of a command.
type Output struct {
	Args   []string // of entire; those of agentfs begin with "agentfs"
	Stdout []byte
	Code   int // the exit code
}

// files maps a command to the file of its schema, unless that has the name of the command.
func files() map[string]string {
	return map[string]string{
		"explain": "show", "why": "show", "sessions": "log", "unlink": "link", "reset": "clean", "trust": "config-trust", "snapshot": "snapshot-list",
		"undo": "rewind", "redo": "rewind", "disable": "enable", "agents install": "enable", "agents remove": "enable",
		"config get": "config", "config set": "config", "config unset": "config", "recall search": "recall-list", "recall resume": "recall",
		"bisect replay": "bisect-run",

		"agentfs checkpoint": "snapshot-create", "agentfs checkpoint create": "snapshot-create", "agentfs checkpoint list": "snapshot-list", "agentfs checkpoint info": "snapshot-show",
		"agentfs checkpoint delete": "snapshot-delete", "agentfs restore": "snapshot-restore", "agentfs export": "snapshot-export",
		"agentfs du": "snapshot-du", "agentfs prune": "snapshot-prune", "agentfs verify": "snapshot-verify", "agentfs diff": "diff",
		"agentfs bisect run": "bisect-run", "agentfs bisect replay": "bisect-run", "agentfs bisect log": "bisect-log",
		"agentfs bisect reset": "bisect-reset",
		"agentfs close":        "agentfs-open",
	}
}

// HasSchema reports whether there is a schema for the output of a command line: it has --json or
// --jsonl.
func HasSchema(args []string) bool { return has(args, "--json") || has(args, "--jsonl") }

func has(args []string, flag string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, flag)
}

// Check returns how an output differs from its schema: also by keys that the schema doesn't have.
func Check(o Output) error {
	text, found := nameOf(o.Args)
	if !found {
		if o.Code != 0 {
			return checkAs(o, "error")
		}
		return fmt.Errorf("no schema in %s", dir)
	}
	err := checkAs(o, text)
	if err != nil && o.Code != 0 && checkAs(o, "error") == nil {
		return nil
	}
	return err
}

// nameOf returns the name of the file with a command's schema.
func nameOf(args []string) (string, bool) {
	var words []string
	for i, arg := range args {
		isValue := i > 0 && (args[i-1] == "--store" || args[i-1] == "-C")
		if !strings.HasPrefix(arg, "-") && !isValue {
			words = append(words, arg)
		}
	}
	if other := map[string]string{"fs": "agentfs", "snapshots": "snapshot"}; len(words) > 0 {
		words[0] = cmp.Or(other[words[0]], words[0])
	}
	if len(words) > 1 && words[0] == "show" {
		if _, err := bands.ParseVersion(words[1]); err == nil {
			return "snapshot-show", true
		}
	}
	for n := len(words); n > 0; n-- {
		command := strings.Join(words[:n], " ")
		name, known := files()[command]
		if !known {
			name = strings.ReplaceAll(command, " ", "-")
		}
		if strings.ContainsAny(name, "/\\") {
			continue
		}
		if _, err := os.Stat(fileOf(name)); err == nil {
			return name, true
		}
	}
	return "", false
}

func fileOf(name string) string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..", "..", filepath.FromSlash(dir), name+".json")
}

func checkAs(o Output, name string) error {
	data, err := os.ReadFile(fileOf(name))
	if err != nil {
		return err
	}
	root := new(jsonschema.Schema)
	if err := json.Unmarshal(data, root); err != nil {
		return err
	}
	strict(root)
	values, err := valuesIn(o.Stdout)
	if err != nil {
		return fmt.Errorf("%s: not JSON: %w", name, err)
	}
	switch {
	case has(o.Args, "--jsonl") && name != "error":
		return checkLines(root, values, has(o.Args, "--follow") || o.Code != 0)
	case len(values) != 1:
		return fmt.Errorf("%s: %d values, not one", name, len(values))
	}
	list, isList := values[0].([]any)
	if !isList {
		return validate(root, nil, values[0])
	}
	entry := bareEntry(root)
	if entry == nil {
		return fmt.Errorf("%s: a list, not an object", name)
	}
	for _, v := range list {
		if err := validate(entry, root.Defs, v); err != nil {
			return err
		}
	}
	return nil
}

// strict has a schema refuse keys that it doesn't have, and times that aren't in UTC, to the second. A definition
// refuses no keys itself, as what refers to it may have others.
func strict(root *jsonschema.Schema) {
	none := &jsonschema.Schema{Not: &jsonschema.Schema{}}
	each(root, func(s *jsonschema.Schema) {
		isDef := slices.Contains(slices.Collect(maps.Values(root.Defs)), s)
		if !isDef && s.AdditionalProperties == nil && (s.Properties != nil || s.Ref != "") {
			s.UnevaluatedProperties = none
		}
		for name, property := range s.Properties {
			if property.Format == "date-time" && name != "last_modified" { // of a file
				property.Pattern = `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`
			}
		}
	})
}

// valuesIn returns the values in a text, one after another.
func valuesIn(text []byte) (list []any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		var v any
		switch err := d.Decode(&v); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, err
		}
		list = append(list, v)
	}
}

// checkLines checks the lines of a list. If endless is set, the last one may be an entry.
func checkLines(root *jsonschema.Schema, values []any, endless bool) error {
	line := root.Defs[lines]
	if line == nil {
		return errors.New("the schema has no lines")
	}
	for i, v := range values {
		if err := validate(line, root.Defs, v); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
		object, _ := v.(map[string]any)
		if isLast, isEnd := i == len(values)-1, object["end"] == true; isEnd && !isLast || isLast && !isEnd && !endless {
			return fmt.Errorf("line %d of %d: end is %v", i+1, len(values), object["end"])
		}
	}
	if len(values) == 0 && !endless {
		return errors.New("no lines")
	}
	return nil
}

// bareEntry returns the schema of the entries of a list that some commands print without an object.
func bareEntry(root *jsonschema.Schema) *jsonschema.Schema {
	for _, s := range append(root.AnyOf, root) {
		for _, key := range []string{"stores", "snapshots", "changes", "points"} {
			if list := s.Properties[key]; list != nil {
				return list.Items
			}
		}
	}
	return nil
}

func validate(s *jsonschema.Schema, defs map[string]*jsonschema.Schema, v any) error {
	s = s.CloneSchemas()
	if s.Defs == nil {
		s.Defs = map[string]*jsonschema.Schema{}
	}
	for name, def := range defs {
		if name != lines {
			s.Defs[name] = def.CloneSchemas()
		}
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	return resolved.Validate(v)
}
