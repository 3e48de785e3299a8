package redact_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/redact"
)

// escapeAll returns s as JSON with every character escaped.
func escapeAll(s string) string {
	var b strings.Builder
	for _, c := range s {
		fmt.Fprintf(&b, `\u%04X`, c)
	}
	return b.String()
}

func TestLine(t *testing.T) {
	t.Parallel()
	token, value := githubToken(), genericValue()
	key := strings.ReplaceAll(privateKey(), "\n", `\n`)
	keyLine := "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj"
	tests := []struct{ name, line, want string }{
		{"token", `{"a":"` + token + `","b":1}`, `{"a":"REDACTED","b":1}`},
		{"spaces and escapes stay", "{ \"a\" : [1.50e+3, \"\\u003c\\/é <\"] ,\t\"b\":\"x " + token + " \\u00e9\\/\"}", "{ \"a\" : [1.50e+3, \"\\u003c\\/é <\"] ,\t\"b\":\"x REDACTED \\u00e9\\/\"}"},
		{"unicode escapes", `{"a":"` + escapeAll(token) + `"}`, `{"a":"REDACTED"}`},
		{"partly escaped", `{"a":"é\ud83d\ude00 gh` + `\u0070_` + random36 + `\n"}`, `{"a":"é\ud83d\ude00 REDACTED\n"}`},
		{"escaped slash", `{"a":"api_key = \"` + `k8Jd\/3jfL2mQ\/pR71vTz0Q` + `\""}`, `{"a":"api_key = \"REDACTED\""}`},
		{"escaped quotes", `{"a":"api_key = \"` + value + `\" // x"}`, `{"a":"api_key = \"REDACTED\" // x"}`},
		{"member that ends in id", `{"paid":"` + token + `","oauth_client_id":"` + token + `"}`, `{"paid":"REDACTED","oauth_client_id":"REDACTED"}`},
		{"signature", `{"signature":"` + token + `"}`, `{"signature":"REDACTED"}`},
		{"image", `{"type":"image","source":{"type":"base64","data":"` + token + `"}}`, `{"type":"image","source":{"type":"base64","data":"REDACTED"}}`},
		{"name of a member", `{"` + token + `":1}`, `{"REDACTED":1}`},
		{"private key", `{"a":"x\n` + key + `\ny"}`, `{"a":"x\nREDACTED\ny"}`},
		{"lines of a private key elsewhere", `{"a":"` + key + `","b":["+` + keyLine + `","+other"]}`, `{"a":"REDACTED","b":["+REDACTED","+other"]}`},
		{"elsewhere in the line", `{"a":"password: ` + value + `","b":"` + value + `"}`, `{"a":"password: REDACTED","b":"REDACTED"}`},
		{"JSON in a string", `{"a":"{\"api_key\": \"` + value + `\"}"}`, `{"a":"{\"api_key\": \"REDACTED\"}"}`},
		{"name and value", `{"api_key":"` + value + `"}`, `{"api_key":"REDACTED"}`},
		{"same name twice", `{"a":"` + token + `","a":"` + token + `"}`, `{"a":"REDACTED","a":"REDACTED"}`},
		{"lone surrogate", `{"a":"\ud800 ` + token + ` \udc00\ud800"}`, `{"a":"\ud800 REDACTED \udc00\ud800"}`},
		{"invalid UTF-8", "{\"a\":\"\xff " + token + " \xc3\"}", "{\"a\":\"\xff REDACTED \xc3\"}"},
		{"string alone", `"` + token + `"`, `"REDACTED"`},
		{"line end", `{"a":"` + token + `"}` + "\r\n", `{"a":"REDACTED"}` + "\r\n"},
		{"truncated", `{"a":"api_key = \"` + value + `\" and`, `{"a":"api_key = \"REDACTED\" and`},
		{"truncated in the secret", `{"b":1,"a":"tok\u0065n ` + token, `{"b":1,"a":"tok\u0065n REDACTED`},
		{"no JSON", `level=info password="` + value + `" msg=x`, `level=info password="REDACTED" msg=x`},
		{"secret outside strings", `{"a":1} ` + token, `{"a":1} REDACTED`},
		{"bad escape", `{"a":"\x api_key = \"` + value + `\""}`, `{"a":"\x api_key = \"REDACTED\""}`},
	}
	r := redact.New()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := []byte(tt.line)
			got := r.Line(in)
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("Line (-want +got):\n%s", diff)
			}
			if string(in) != tt.line {
				t.Error("Line wrote to its argument")
			}
			if again := r.Line(got); !bytes.Equal(again, got) {
				t.Errorf("a second time: %s", again)
			}
			if json.Valid(in) != json.Valid(got) {
				t.Errorf("valid before: %v, after: %v", json.Valid(in), json.Valid(got))
			}
		})
	}
}

func TestLineSameSlice(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`[{"a":`, 20_000) + "1" + strings.Repeat("}]", 20_000)
	r := redact.New()
	for _, line := range []string{
		"", "\n", "{}", `{"token":"nothing of interest","key":{"api":[true,null,-0.5E-7]}}` + "\n",
		`{"a":"\ud800\u0000\/"}`, "\xff\xfe\x00", `"`, `"\`, `{"a":"\u12`, deep, deep[:len(deep)/2],
		strings.Repeat(`"\"`, 50_000),
	} {
		in := []byte(line)
		got := r.Line(in)
		if len(got) != len(in) || len(in) > 0 && &got[0] != &in[0] {
			t.Errorf("Line(%.40q) is not the slice it was given", line)
		}
	}
}
