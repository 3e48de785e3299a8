package testkit

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

// Object is a JSON object that keeps the order of its keys, like the agent's own writer. It is a
// list of alternating keys and values.
type Object []any

// MarshalJSON writes the object like the agent: no spaces, no HTML escapes.
func (o Object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i := 0; i+1 < len(o); i += 2 {
		if i > 0 {
			out.WriteByte(',')
		}
		key, err := encode(o[i])
		if err != nil {
			return nil, err
		}
		value, err := encode(o[i+1])
		if err != nil {
			return nil, err
		}
		out.Write(key)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// JSON returns the object as JSON on one line.
func (o Object) JSON() string {
	text, err := encode(o)
	if err != nil {
		return fmt.Sprintf("{%q:%q}", "error", err.Error())
	}
	return string(text)
}

// text returns the string value of a key, "" if there is none.
func (o Object) text(key string) string {
	for i := 0; i+1 < len(o); i += 2 {
		if o[i] == key {
			text, _ := o[i+1].(string)
			return text
		}
	}
	return ""
}

func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// UUID returns a well-formed identifier derived from the parts: equal parts give equal identifiers.
func UUID(parts ...any) string {
	sum := sha256.Sum256(fmt.Append(nil, parts...))
	sum[6] = sum[6]&0x0f | 0x40
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}
