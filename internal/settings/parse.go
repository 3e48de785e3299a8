package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/tailscale/hujson"

	"github.com/seed-3aff656d/entire/internal/disk"
)

const byteOrderMark = "\xef\xbb\xbf"

// ReadFile reads a settings file within the limits of Load.
func ReadFile(path string) ([]byte, error) { return readFile(path) }

// readFile reads a settings file, which must be regular and at most maxSize bytes.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, cause(err)
	case info.Size() > maxSize:
		return nil, fmt.Errorf("larger than %d bytes", maxSize)
	}
	data, err := disk.ReadFile(path)
	return data, cause(err)
}

// cause removes the path, which the caller adds.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// parse parses JSON with comments and trailing commas. An empty file is an empty object.
func parse(data []byte) (*hujson.Object, error) {
	value, err := parseValue(data)
	if err != nil {
		return nil, err
	}
	object, ok := value.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("not a JSON object")
	}
	return object, nil
}

func parseValue(data []byte) (hujson.Value, error) {
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}\n")
	}
	if tooDeep(data) {
		return hujson.Value{}, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	value, err := hujson.Parse(data)
	if err != nil {
		return hujson.Value{}, fmt.Errorf("not JSON: %w", err)
	}
	return value, nil
}

// tooDeep reports whether data is nested deeper than maxDepth, to bound the recursion of the
// parser.
func tooDeep(data []byte) bool {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return true
			}
		case '}', ']':
			depth--
		case '"', '/':
			i += skip(data[i:]) - 1
		}
	}
	return false
}

// skip returns the length of the string or comment at the start of data, at least 1.
func skip(data []byte) int {
	end := func(mark string) int {
		if n := bytes.Index(data[2:], []byte(mark)); n >= 0 {
			return 2 + n + len(mark)
		}
		return len(data)
	}
	switch {
	case bytes.HasPrefix(data, []byte("//")):
		return end("\n")
	case bytes.HasPrefix(data, []byte("/*")):
		return end("*/")
	case data[0] != '"':
		return 1
	}
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// unquote returns the content of a string literal. Literals without escapes, nearly all, need no
// decoder.
func unquote(l hujson.Literal) string {
	if len(l) >= 2 && l[0] == '"' && bytes.IndexByte(l, '\\') < 0 {
		return string(l[1 : len(l)-1])
	}
	return l.String()
}

func toRaw(v hujson.ValueTrimmed) raw {
	l, ok := v.(hujson.Literal)
	if !ok {
		packed := hujson.Value{Value: v}
		packed.Minimize()
		return raw{kindOther, string(packed.Pack())}
	}
	switch l.Kind() {
	case '"':
		return raw{kindString, unquote(l)}
	case 't', 'f':
		return raw{kindBool, string(l)}
	default:
		return raw{kindOther, string(l)}
	}
}
