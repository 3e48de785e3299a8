package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnknownKey means that there is no such setting.
var ErrUnknownKey = errors.New("no such setting")

// BadValueError reports a value that a setting can't have, in the form of a Problem of Load.
type BadValueError struct{ Problem }

func (e *BadValueError) Error() string { return e.String() }

// ParseChange returns the change that sets key to the value text, in the form of a variable or a
// command line.
func ParseChange(key, text string) (Change, error) {
	f, err := fieldOf(key)
	if err != nil {
		return Change{}, err
	}
	var trial Settings
	if r := (raw{kindText, text}); !f.set(&trial, r) {
		return Change{}, &BadValueError{bad(f, r, Source{})}
	}
	return Change{Key: key, Value: f.get(&trial)}, nil
}

// Configure changes the user's own file, which it creates, readable only by the user, if necessary,
// and returns the resulting settings: a higher layer may override them (Overrides). It changes
// nothing if a value is bad (*BadValueError) or a key is unknown.
func Configure(from Sources, changes ...Change) (Settings, error) {
	path := UserFile(from)
	if path == "" {
		return Settings{}, errors.New("there is no home folder for settings")
	}
	written := make([]Change, 0, len(changes))
	for _, c := range changes {
		w, err := c.Check(Source{User, path})
		if err != nil {
			return Settings{}, err
		}
		written = append(written, w)
	}
	if _, err := edit(path, modes{file: 0o600, dir: 0o700}, written); err != nil {
		return Settings{}, err
	}
	return Load(from), nil
}

// Check returns the change in the form for Edit, if the key can have the value in the layer and
// file of the source: else a *BadValueError, or ErrUnknownKey.
func (c Change) Check(in Source) (Change, error) {
	f, err := fieldOf(c.Key)
	if err != nil || c.Value == nil {
		return Change{Key: c.Key}, err
	}
	r, ok := rawOf(c.Value)
	if !ok {
		r = raw{kindOther, fmt.Sprint(c.Value)}
		if text, isJSON := c.Value.(json.RawMessage); isJSON {
			r.text = string(text)
		}
	}
	var trial Settings
	if !ok || !f.set(&trial, r) {
		return Change{}, &BadValueError{bad(f, r, in)}
	}
	text := []byte(r.text)
	if r.kind == kindString {
		text, err = json.Marshal(r.text)
	}
	return Change{Key: c.Key, Value: json.RawMessage(text)}, err
}

func fieldOf(key string) (*field, error) {
	all := fields()
	i := slices.IndexFunc(all, func(f field) bool { return f.key == key })
	if i < 0 {
		return nil, fmt.Errorf("%q: %w", key, ErrUnknownKey)
	}
	return &all[i], nil
}

// Override is a key that a higher layer sets.
type Override struct {
	Key    string
	Source Source
}

// Overrides returns those of keys that are set by a layer higher than above, even if to a value
// that is refused.
func (s *Settings) Overrides(above Layer, keys ...string) []Override {
	var list []Override
	for _, key := range keys {
		from := s.sources[key]
		if refused, ok := s.refused[key]; ok {
			from = refused
		}
		if from.Layer > above {
			list = append(list, Override{Key: key, Source: from})
		}
	}
	return list
}

// Preset returns the changes that make clearing and starting fully automatic ("auto"), ask before a
// clear ("prompt"), or leave everything to the user ("manual").
func Preset(name string) ([]Change, bool) {
	set := func(onClear, onStart Choice, verify bool) []Change {
		return []Change{
			{Key: KeyOnClear, Value: onClear},
			{Key: KeyOnStart, Value: onStart},
			{Key: KeyThreshold, Value: recallDefaults().Threshold},
			{Key: KeyVerify, Value: verify},
		}
	}
	switch name {
	case "auto":
		return set(Always, Always, false), true
	case "prompt":
		return set(Prompt, Always, true), true
	case "manual":
		return set(Never, Never, false), true
	}
	return nil, false
}

// Presets returns the names that Preset accepts.
func Presets() []string { return []string{"auto", "prompt", "manual"} }

// attempts is the maximum number of attempts to edit a file while other processes write it.
const attempts = 20

// FindKey returns the key with that name: the full key, or its last words if no other key ends with
// them.
func FindKey(name string) (string, error) {
	found := ""
	for _, f := range fields() {
		switch {
		case f.key == name:
			return name, nil
		case !strings.HasSuffix(f.key, "."+name):
		case found != "":
			return "", fmt.Errorf("%q: %w: %s and %s end so", name, ErrUnknownKey, found, f.key)
		default:
			found = f.key
		}
	}
	if found == "" {
		return "", fmt.Errorf("%q: %w", name, ErrUnknownKey)
	}
	return found, nil
}

// Keys returns all keys, in the order of listings.
func Keys() []string {
	all := fields()
	keys := make([]string, len(all))
	for i, f := range all {
		keys[i] = f.key
	}
	return keys
}

// Examples returns the values named in the description of a key's allowed values.
func Examples(key string) []string {
	f, err := fieldOf(key)
	if err != nil || key == KeyPushRemote { // any word is a remote's name
		return nil
	}
	var values []string
	for _, word := range strings.FieldsFunc(f.allowed, func(r rune) bool { return strings.ContainsRune(` ",`, r) }) {
		var trial Settings
		if f.set(&trial, raw{kindText, word}) {
			values = append(values, word)
		}
	}
	return values
}
