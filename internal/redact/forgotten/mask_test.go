package forgotten_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/redact/forgotten"
)

func TestForgetterMasksEveryForm(t *testing.T) {
	t.Parallel()
	salt := []byte("salt")
	for _, text := range []string{"correct horse", "a/b+c\"d\\e", "grüße ☃ 𝄞", "<tag> & more", "4111111111111111", "two\nlines"} {
		f := forgotten.New([]forgotten.Marks{{Salt: string(salt), Forms: forgotten.MarkText(salt, text)}})
		escaped, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := json.Marshal(string(escaped))
		if err != nil {
			t.Fatal(err)
		}
		forms := []string{
			"so " + text + " there", `{"a":` + string(escaped) + `,"b":1}`, `{"a":` + string(twice) + `}`,
			"x=" + url.QueryEscape(text) + "&y", "/" + url.PathEscape(text), strings.ToLower(url.QueryEscape(text)),
		}
		for before := range 4 {
			data := strings.Repeat("x", before) + text + "yz"
			forms = append(forms, base64.StdEncoding.EncodeToString([]byte(data)), `{"data":"`+base64.URLEncoding.EncodeToString([]byte(data))+`"}`)
		}
		for _, form := range forms {
			masked, inPlace := f.Mask([]byte(form)), f.MaskInPlace([]byte(form))
			if string(masked) == form || len(f.Spans(masked)) > 0 || len(f.Spans(inPlace)) > 0 {
				t.Errorf("%q is still in %q, %q", text, masked, inPlace)
			}
			if len(inPlace) != len(form) {
				t.Errorf("masked in place %q has another length", inPlace)
			}
			if json.Valid([]byte(form)) && (!json.Valid(masked) || !json.Valid(inPlace)) {
				t.Errorf("%q became %q, %q", form, masked, inPlace)
			}
		}
	}
}

func TestForgetterKeepsJSONValid(t *testing.T) {
	t.Parallel()
	salt := []byte("salt")
	for text, line := range map[string]string{
		"123456":        `{"n":9123456789,"s":"123456"}`,
		"nfoobar":       `{"s":"x\nfoobar"}`,
		`"a":"secret1"`: `{"a":"secret1","b":2}`,
		"secret-key":    "{\n  \"k\": \"secret-key\"\n}\n",
	} {
		f := forgotten.New([]forgotten.Marks{{Salt: string(salt), Forms: forgotten.MarkText(salt, text)}})
		for _, data := range []string{line, line + "\n" + line} {
			for name, masked := range map[string][]byte{"mask": f.Mask([]byte(data)), "in place": f.MaskInPlace([]byte(data))} {
				if len(f.Spans(masked)) > 0 {
					t.Errorf("%s: %q is still in %q", name, text, masked)
				}
				for piece := range strings.SplitSeq(strings.TrimSpace(string(masked)), "\n") {
					if data == line && strings.Count(line, "\n") > 0 {
						piece = string(masked)
					} else if strings.Count(line, "\n") > 0 {
						continue
					}
					if !json.Valid([]byte(piece)) {
						t.Errorf("%s: %q became %q", name, data, masked)
					}
				}
				if name == "in place" && len(masked) != len(data) {
					t.Errorf("%q has another length than %q", masked, data)
				}
			}
		}
	}
}

func TestForgetterLeavesOtherTextsAlone(t *testing.T) {
	t.Parallel()
	salt := []byte("salt")
	marks := forgotten.MarkText(salt, "correct horse")
	f := forgotten.New([]forgotten.Marks{{Salt: string(salt), Forms: marks}})
	for _, text := range []string{"", "correct", "correct  horse", strings.Repeat("abc ", 1000)} {
		if got := string(f.Mask([]byte(text))); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	data, err := json.Marshal(marks)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "correct") || len(forgotten.New([]forgotten.Marks{{Salt: "other", Forms: marks}}).Spans([]byte("correct horse"))) > 0 {
		t.Error("the marks have the text, or don't depend on the salt")
	}
}

func BenchmarkForgetter(b *testing.B) {
	salt := []byte("salt")
	f := forgotten.New([]forgotten.Marks{{Salt: string(salt), Forms: forgotten.MarkText(salt, "correct horse battery")}})
	data := []byte(fmt.Sprint(make([]int, 1<<19)))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		f.Spans(data)
	}
}
