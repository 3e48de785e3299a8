package redact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/testkit/secretkinds"
)

// structures contain a secret in a value whose name is elsewhere in the JSON. SECRET stands for a
// token of 24 letters and digits.
var structures = map[string]string{
	"option and argument":          `["tool","--password","SECRET","--verbose"]`,
	"option with argument":         `["tool","--password=SECRET"]`,
	"token option with argument":   `["tool","--api-token=SECRET"]`,
	"token option":                 `["tool","--token","SECRET"]`,
	"key option":                   `["tool","--api-key","SECRET"]`,
	"user and password":            `["curl","-u","someone:SECRET","https://host/"]`,
	"assignment":                   `["env","DB_PASSWORD=SECRET","server"]`,
	"assignment behind option":     `["docker","run","-e","DB_PASSWORD=SECRET"]`,
	"header option":                `["curl","-H","Authorization: Bearer SECRET"]`,
	"cookie option":                `["curl","-b","sid=SECRET"]`,
	"arguments of a member":        `{"command":"tool","args":["--password","SECRET"]}`,
	"header":                       `{"headers":{"Authorization":"Bearer SECRET"}}`,
	"header without scheme":        `{"headers":{"authorization":"SECRET"}}`,
	"header of a list":             `{"headers":{"Authorization":["Bearer SECRET"]}}`,
	"cookie header":                `{"headers":{"Cookie":"sid=SECRET; theme=dark"}}`,
	"list of set-cookie":           `{"headers":{"set-cookie":["sid=SECRET; Path=/","theme=dark"]}}`,
	"key header":                   `{"headers":{"X-Api-Key":"SECRET"}}`,
	"pairs of headers":             `[["Accept","*/*"],["Cookie","sid=SECRET"]]`,
	"pair of authorization":        `[["Authorization","Bearer SECRET"]]`,
	"pair of a key":                `[["x-api-key","SECRET"]]`,
	"pair of a variable":           `[["DB_PASSWORD","SECRET"]]`,
	"flat headers":                 `{"rawHeaders":["Host","h","Authorization","Bearer SECRET"]}`,
	"flat headers with a key":      `{"rawHeaders":["Host","h","X-Auth-Token","SECRET"]}`,
	"named header":                 `{"name":"Authorization","value":"Bearer SECRET"}`,
	"named cookie":                 `{"name":"Cookie","value":"sid=SECRET"}`,
	"named variable":               `{"name":"API_KEY","value":"SECRET"}`,
	"value before its name":        `{"value":"SECRET","name":"DB_PASSWORD"}`,
	"key and value":                `{"key":"API_TOKEN","value":"SECRET"}`,
	"Name and Value":               `{"Name":"DB_PASSWORD","Value":"SECRET"}`,
	"Key and Value":                `{"Key":"DB_PASSWORD","Value":"SECRET"}`,
	"member between":               `{"name":"DB_PASSWORD","type":"string","value":"SECRET"}`,
	"variables":                    `{"env":{"DB_PASSWORD":"SECRET"}}`,
	"list of variables":            `{"environment":["DB_PASSWORD=SECRET"]}`,
	"escaped name":                 `{"pass\u0077ord":"SECRET"}`,
	"JSON in a string":             `{"body":"{\"headers\":{\"Authorization\":\"Bearer SECRET\"}}"}`,
	"arguments in a string":        `{"body":"[\"--password\", \"SECRET\"]"}`,
	"pairs in a string":            `{"body":"[[\"Cookie\",\"sid=SECRET\"]]"}`,
	"named header in a string":     `{"body":"{\"name\":\"Authorization\",\"value\":\"Bearer SECRET\"}"}`,
	"named variable in a string":   `{"body":"{\"name\": \"API_KEY\", \"value\": \"SECRET\"}"}`,
	"key and value in a string":    `{"body":"{\"key\": \"DB_PASSWORD\", \"value\": \"SECRET\"}"}`,
	"named variable in YAML":       `{"body":"env:\n- name: DB_PASSWORD\n  value: SECRET\n- name: X\n  value: y\n"}`,
	"variables in printed objects": `{"body":"{ env: { DB_PASSWORD: 'SECRET' } }"}`,
}

func TestAttackNamesInStructures(t *testing.T) {
	t.Parallel()
	r := redact.New()
	for name, structure := range structures {
		m := secretkinds.New(uint64(len(name)), 9)
		for range tries(20) {
			secret := m.Of(alnums, 24)
			line := strings.Replace(structure, "SECRET", secret, 1)
			got := r.Line([]byte(line))
			if strings.Contains(string(got), secret) || !json.Valid(got) {
				t.Errorf("%s: %s", name, got)
				break
			}
		}
	}
}

// Harmless values in these structures are kept, and so are numbers, which a program that reads a
// transcript may need.
func TestOrdinaryStructures(t *testing.T) {
	t.Parallel()
	r := redact.New()
	for _, line := range []string{
		`{"password":12345678,"pin":4321,"token":17}`,
		`{"usage":{"input_tokens":12345678,"max_tokens":8192}}`,
		`["--password","--user","root"]`,
		`["tool","--token","--verbose"]`,
		`["--password-file","/run/secrets/db"]`,
		`[["Accept","application/json"],["Content-Type","text/html; charset=utf-8"]]`,
		`{"name":"Accept","value":"application/json"}`,
		`{"name":"LOG_LEVEL","value":"debug2"}`,
		`{"name":"API_KEY","value":"${API_KEY}"}`,
		`{"key":"Enter","value":"Submit the form"}`,
		`{"headers":{"Authorization":"Bearer ${TOKEN}"}}`,
		`["the authorization","of this request is missing"]`,
		`["cookie","banner is shown = false"]`,
		`{"name":"password","type":"string","description":"The password of the user"}`,
		`{"body":"env:\n- name: DB_PASSWORD\n  valueFrom: x\n- name: X\n  value: an0therValue12345\n"}`,
		`{"body":"{\"name\":\"password\"},{\"name\":\"x\",\"value\":\"an0therValue12345\"}"}`,
		`["DB_PASSWORD","DB_USER_2","api_key","secret_key2"]`,
		`{"body":"[\"password\", \"username\", \"email\"]"}`,
		"{\"body\":\"2. Verify tests pass: `go test ./cmd/entire -run Test_Has9 -v`\\n3. Commit\"}",
		"{\"body\":\"// Examples that would pass: `user.Save()`, `return`\"}",
		`{"body":"Context: []byte(\"DB_PASSWORD=\" + highEntropySecret9),\n"}`,
	} {
		if got := string(r.Line([]byte(line))); got != line {
			t.Errorf("Line(%s) = %s", line, got)
		}
	}
}
