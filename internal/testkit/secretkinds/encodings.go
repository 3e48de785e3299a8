package secretkinds

import (
	"bytes"
	"compress/gzip"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"mime/quotedprintable"
	"strings"
	"unicode/utf16"
)

func everyByte(s, format string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

func zipped(s string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.Bytes()
}

func utf16Bytes(s string, big bool) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		if big {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return b
}

func wrapped(s string, n int, with string) string {
	var b strings.Builder
	for len(s) > n {
		b.WriteString(s[:n] + with)
		s = s[n:]
	}
	return b.String() + s
}

// hexDump returns the bytes of s as xxd prints them, or hexdump -C if canonical.
func hexDump(s string, canonical bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i += 16 {
		row := s[i:min(i+16, len(s))]
		if canonical {
			fmt.Fprintf(&b, "%08x  % x  |%s|\n", i, row, strings.ReplaceAll(row, "\n", "."))
			continue
		}
		fmt.Fprintf(&b, "%08x:", i)
		for k := 0; k < len(row); k += 2 {
			fmt.Fprintf(&b, " %x", row[k:min(k+2, len(row))])
		}
		fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(row, "\n", "."))
	}
	return b.String()
}

func fullwidth(s string) string {
	return strings.Map(func(c rune) rune {
		if '!' <= c && c <= '~' {
			return c - '!' + '！'
		}
		return c
	}, s)
}

func numbers(s string) string {
	return strings.TrimSuffix(everyByte(s, "%d, "), ", ")
}

// Form is an encoding in which secrets are found.
type Form struct {
	Name   string
	Inside bool // only the secret is encoded, the text around it stays as it is
	Encode func(s string) string
}

// Forms returns the encodings in which secrets are found.
func Forms() []Form {
	return []Form{
		{"base64", false, func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }},
		{"base64url", false, func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }},
		{"base64 twice", false, func(s string) string {
			return base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte(s))))
		}},
		{"base64 wrapped", false, func(s string) string {
			return wrapped(base64.StdEncoding.EncodeToString([]byte("# the settings of the application\n"+s)), 24, "\n")
		}},
		{"base32", false, func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) }},
		{"hex", false, func(s string) string { return hex.EncodeToString([]byte(s)) }},
		{"HEX", false, func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }},
		{"hex with spaces", false, func(s string) string { return fmt.Sprintf("% x", s) }},
		{"hex with colons", false, func(s string) string { return strings.ReplaceAll(fmt.Sprintf("% x", s), " ", ":") }},
		{"hex with 0x", false, func(s string) string { return everyByte(s, "0x%02x, ") }},
		{"xxd", false, func(s string) string { return hexDump(s, false) }},
		{"hexdump", false, func(s string) string { return hexDump(s, true) }},
		{"percent", false, func(s string) string { return everyByte(s, "%%%02X") }},
		{"quoted-printable lines", true, func(s string) string { return wrapped(s, 9, "=\r\n") }},
		{"quoted-printable", false, func(s string) string {
			var b strings.Builder
			w := quotedprintable.NewWriter(&b)
			_, _ = w.Write([]byte(s))
			_ = w.Close()
			return b.String()
		}},
		{"quoted-printable all", false, func(s string) string { return everyByte(s, "=%02X") }},
		{"entities decimal", false, func(s string) string { return everyByte(s, "&#%d;") }},
		{"entities hex", false, func(s string) string { return everyByte(s, "&#x%x;") }},
		{"entities named", false, html.EscapeString},
		{"u escapes", false, func(s string) string { return everyByte(s, `\u%04x`) }},
		{"u escapes in braces", false, func(s string) string { return everyByte(s, `\u{%x}`) }},
		{"x escapes", false, func(s string) string { return everyByte(s, `\x%02x`) }},
		{"octal", false, func(s string) string { return everyByte(s, `\%03o`) }},
		{"UTF-16", false, func(s string) string { return string(utf16Bytes(s, false)) }},
		{"UTF-16 big", false, func(s string) string { return string(utf16Bytes(s, true)) }},
		{"UTF-16 in base64", false, func(s string) string { return base64.StdEncoding.EncodeToString(utf16Bytes(s, false)) }},
		{"gzip in base64", false, func(s string) string { return base64.StdEncoding.EncodeToString(zipped(s)) }},
		{"gzip in hex", false, func(s string) string { return hex.EncodeToString(zipped(s)) }},
		{"bytes", false, func(s string) string { return "[" + numbers(s) + "]" }},
		{"Go bytes", false, func(s string) string { return "[]byte{" + numbers(s) + "}" }},
		{"characters", false, func(s string) string {
			list, _ := json.Marshal(strings.Split(s, ""))
			return string(list)
		}},
		{"char codes", false, func(s string) string { return "String.fromCharCode(" + numbers(s) + ")" }},
		{"concatenated", true, func(s string) string { return wrapped(s, 7, `" + "`) }},
		{"concatenated lines", true, func(s string) string { return wrapped(s, 7, "\" +\n    \"") }},
		{"concatenated tight", true, func(s string) string { return wrapped(s, 7, `"+"`) }},
		{"concatenated adjacent", true, func(s string) string { return wrapped(s, 7, "\" \"") }},
		{"concatenated dots", true, func(s string) string { return wrapped(s, 7, `" . "`) }},
		{"colours", true, func(s string) string { return s[:5] + "\x1b[01;31m\x1b[K" + s[5:9] + "\x1b[m\x1b[K" + s[9:] }},
		{"soft hyphens", true, func(s string) string { return wrapped(s, 5, "\u00ad") }},
		{"zero width", true, func(s string) string { return wrapped(s, 5, "\u200b") }},
		{"word joiners", true, func(s string) string { return wrapped(s, 5, "\u2060") }},
		{"byte order marks", true, func(s string) string { return wrapped(s, 5, "\ufeff") }},
		{"bidi marks", true, func(s string) string { return wrapped(s, 5, "\u200e") }},
		{"shell lines", true, func(s string) string { return wrapped(s, 9, "\\\n") }},
		{"fullwidth", true, fullwidth},
		{"fullwidth text", false, fullwidth},
	}
}

// textAround is a text around a random value.
type textAround struct {
	name, before string
	value        func(m Maker) string
	after        string
}

// secretsToEncode are texts with a secret that is found in clear.
func secretsToEncode() []textAround {
	return []textAround{
		{"password", `password = "`, func(m Maker) string { return m.Of(Alnums, 20) }, "\"\n"},
		{"variable", "DB_PASSWORD=\"", func(m Maker) string { return m.Syllables(4) + m.Of(Digits, 4) + "!" + m.Of(Alnums, 6) }, "\"\n"},
		{"token", "use(\"", func(m Maker) string { return "gh" + "p_" + m.Of(Alnums, 36) }, "\")\n"},
		{"aws", "aws_secret_access_key = \"", func(m Maker) string { return m.Of(Alnums, 40) }, "\"\n"},
		{"url", "dial(\"postgres://app:", func(m Maker) string { return m.Of(Alnums, 18) }, "@db.example/app\")\n"},
		{"header", "\"Authorization: Bearer ", func(m Maker) string { return m.Of(Alnums, 40) }, "\"\n"},
	}
}

// encodings returns encoded texts with secrets. Neither the secret nor its encoded form may
// be left.
func encodings() []Kind {
	kinds := make([]Kind, 0, 300)
	for _, f := range Forms() {
		for _, k := range secretsToEncode() {
			kinds = append(kinds, Kind{"encoded/" + f.Name + "/" + k.name, func(m Maker) Secret {
				secret := k.value(m)
				text := k.before + secret + k.after
				if f.Inside {
					encoded := f.Encode(secret)
					return Secret{strings.Replace(text, secret, encoded, 1), []string{secret, encoded}}
				}
				encoded := strings.TrimRight(f.Encode(text), "\n")
				// The middle of the encoded text is part of the secret.
				half, eighth := len(encoded)/2, len(encoded)/8
				parts := []string{secret, encoded[half-eighth : half+eighth]}
				return Secret{"data: " + encoded + "\n", parts}
			}})
		}
	}
	return kinds
}
