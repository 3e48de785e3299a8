package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/testkit/secretkinds"
)

// maker generates random values, so that the source contains nothing that looks like a secret.
type maker = secretkinds.Maker

const (
	lowers = secretkinds.Lowers
	uppers = secretkinds.Uppers
	digits = secretkinds.Digits
	hexes  = secretkinds.Hexes
	alnums = secretkinds.Alnums
	b64s   = secretkinds.Base64
)

func words(m maker, n int) string {
	all := strings.Fields("abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve acid")
	out := make([]string, n)
	for i := range out {
		out[i] = all[m.IntN(len(all))]
	}
	return strings.Join(out, " ")
}

// kindOfSecret makes a text and the secret in it, which must be masked.
type kindOfSecret struct {
	name string
	make func(m maker) (text, secret string)
}

// around returns a kind with the value between two texts.
func around(name, before string, value func(m maker) string, after string) kindOfSecret {
	return kindOfSecret{name, func(m maker) (string, string) {
		v := value(m)
		return before + v + after, v
	}}
}

func random(set string, n int) func(maker) string {
	return func(m maker) string { return m.Of(set, n) }
}

func prefixed(prefix, set string, n int) func(maker) string {
	return func(m maker) string { return prefix + m.Of(set, n) }
}

func fixed(v string) func(maker) string { return func(maker) string { return v } }

// wholeKey is a private key, without its first or last line if without is "head" or "tail".
func wholeKey(name, label, without string) kindOfSecret {
	return kindOfSecret{name, func(m maker) (string, string) {
		head, body, tail := m.PEM(label, 6)
		secret := body[65:129]
		switch without {
		case "head":
			return body + tail, secret
		case "tail":
			return head + body, secret
		}
		return head + body + tail, secret
	}}
}

// kindsOfSecrets returns the kinds of secrets that the tests put in transcripts.
func kindsOfSecrets() []kindOfSecret {
	const hidden = "hunter" + "2"
	symbols := fixed("Winter" + "..2024!$%")
	return []kindOfSecret{
		around("aws id", "aws_access_key_id = ", prefixed("AK"+"IA", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16), "\n"),
		around("aws secret", "aws_secret_access_key = ", random(b64s, 40), "\n"),
		around("aws secret that begins with +", "aws_secret_access_key = ", prefixed("+", b64s, 39), "\n"),
		around("aws secret that begins with /", "AWS_SECRET_ACCESS_KEY=", prefixed("/", b64s, 39), "\n"),
		around("aws session", "aws_session_token = ", prefixed("IQoJ", b64s, 200), "\n"),
		around("gcp key", "key=", prefixed("AI"+"za", alnums, 35), "\n"),
		{"gcp service account", func(m maker) (string, string) {
			head, body, tail := m.PEM("PRIVATE KEY", 6)
			escaped := strings.ReplaceAll(head+body+tail, "\n", `\n`)
			return `{"type": "service_account", "private_key": "` + escaped + `"}`, body[65:129]
		}},
		around("azure storage", "DefaultEndpointsProtocol=https;AccountName=store;AccountKey=", func(m maker) string { return m.Of(b64s, 86) + "==" }, ";EndpointSuffix=core.windows.net\n"),
		around("azure ad", "AZURE_CLIENT_SECRET=", func(m maker) string { return "abc8Q~" + m.Of(alnums, 34) }, "\n"),
		around("github", "", prefixed("gh"+"p_", alnums, 36), "\n"),
		around("github fine", "", prefixed("github"+"_pat_", alnums, 82), "\n"),
		around("gitlab", "", prefixed("gl"+"pat-", alnums, 20), "\n"),
		around("slack bot", "", func(m maker) string {
			return "xo" + "xb-" + m.Of(digits, 12) + "-" + m.Of(digits, 12) + "-" + m.Of(alnums, 24)
		}, "\n"),
		around("slack webhook", "https://hooks.slack.com/services/", func(m maker) string {
			return "T" + m.Of(uppers+digits, 9) + "/B" + m.Of(uppers+digits, 10) + "/" + m.Of(alnums, 24)
		}, "\n"),
		around("stripe", "", prefixed("sk"+"_live_", alnums, 24), "\n"),
		around("twilio", "", prefixed("S"+"K", hexes, 32), "\n"),
		around("sendgrid", "", func(m maker) string { return "S" + "G." + m.Of(alnums, 22) + "." + m.Of(alnums, 43) }, "\n"),
		around("npm", "", prefixed("np"+"m_", alnums, 36), "\n"),
		around("npmrc", "//registry.npmjs.org/:_authToken=", func(m maker) string { return m.UUID() }, "\n"),
		around("pypi", "", prefixed("py"+"pi-AgEIcHlwaS5vcmc", alnums+"_-", 70), "\n"),
		around("docker auth", `{"auths": {"https://index.docker.io/v1/": {"auth": "`, func(m maker) string {
			return base64.StdEncoding.EncodeToString([]byte("someuser:" + m.Of(alnums, 16)))
		}, `"}}}`),
		around("openai", "OPENAI_API_KEY=", func(m maker) string {
			return "sk-" + m.Of(alnums, 20) + "T3Blbk" + "FJ" + m.Of(alnums, 20)
		}, "\n"),
		around("openai project", "", func(m maker) string {
			return "sk-" + "proj-" + m.Of(alnums, 74) + "T3Blbk" + "FJ" + m.Of(alnums, 74)
		}, "\n"),
		around("anthropic", "", func(m maker) string { return "sk-" + "ant-api03-" + m.Of(alnums, 93) + "AA" }, "\n"),
		around("jwt", "", func(m maker) string {
			return "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "J" + m.Of(alnums, 40) + "." + m.Of(alnums, 43)
		}, "\n"),
		wholeKey("pem rsa", "RSA PRIVATE KEY", ""),
		wholeKey("pem ec", "EC PRIVATE KEY", ""),
		wholeKey("pem openssh", "OPENSSH PRIVATE KEY", ""),
		wholeKey("pem pkcs8", "PRIVATE KEY", ""),
		wholeKey("pgp", "PGP PRIVATE KEY BLOCK", ""),
		around("curl user", "curl -u admin:", random(alnums, 14), " https://host/\n"),
		around("curl header", `curl -H "Authorization: Bearer `, random(alnums, 40), `" https://host/`+"\n"),
		around("NAME_PASSWORD", "DB_PASSWORD=", random(alnums, 20), "\n"),
		around("NAME_PASSWD", "DB_PASSWD=", random(alnums, 20), "\n"),
		around("NAME_SECRET", "CLIENT_SECRET=", random(alnums, 32), "\n"),
		around("NAME_TOKEN", "DEPLOY_TOKEN=", random(alnums, 32), "\n"),
		around("NAME_APIKEY", "SOME_APIKEY=", random(alnums, 32), "\n"),
		around("NAME_CREDENTIALS", "APP_CREDENTIALS=", random(alnums, 32), "\n"),
		around("NAME_AUTH", "REGISTRY_AUTH=", random(alnums, 32), "\n"),
		around("rails", "secret_key_base: ", random(hexes, 128), "\n"),
		around("json text", `{"password": "`, random(alnums, 20), `"}`),
		around("k8s secret", "apiVersion: v1\nkind: Secret\ndata:\n  password: ", func(m maker) string {
			return base64.StdEncoding.EncodeToString([]byte(m.Of(alnums, 21)))
		}, "\n"),
		around("vault", "", prefixed("hv"+"s.", alnums, 94), "\n"),
		around("heroku", "HEROKU_API_KEY=", func(m maker) string { return m.UUID() }, "\n"),
		around("telegram", "TELEGRAM_TOKEN=", func(m maker) string { return m.Of(digits, 10) + ":AA" + m.Of(alnums, 33) }, "\n"),
		around("PGPASSWORD", "PGPASSWORD=", random(alnums, 16), " psql -h host\n"),
		around("wireguard", "[Interface]\nPrivateKey = ", func(m maker) string { return m.Of(b64s, 43) + "=" }, "\n"),
		around("age", "", prefixed("AGE-SECRET"+"-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58), "\n"),
		around("shopify", "", prefixed("shp"+"at_", hexes, 32), "\n"),
		around("huggingface", "", prefixed("h"+"f_", lowers+uppers, 34), "\n"),
		around("databricks", "", prefixed("da"+"pi", hexes, 32), "\n"),
		around("digitalocean", "", prefixed("do"+"p_v1_", hexes, 64), "\n"),
		around("linear", "", prefixed("lin"+"_api_", alnums, 40), "\n"),
		around("cloudflare", "CLOUDFLARE_API_TOKEN=", random(alnums, 40), "\n"),
		around("perplexity", "", prefixed("pp"+"lx-", alnums, 48), "\n"),
		around("fly", "", prefixed("fo"+"1_", alnums, 43), "\n"),
		around("doppler", "", prefixed("dp"+".pt.", alnums, 43), "\n"),
		around("planetscale", "", prefixed("pscale"+"_tkn_", alnums, 43), "\n"),
		around("atlassian", "", prefixed("ATA"+"TT3", alnums, 186), "\n"),
		around("eth key", "ETH_PRIVATE_KEY=0x", random(hexes, 64), "\n"),
		around("32 hex digits", "datadog_api_key: ", random("0123", 32), "\n"),

		around("postgres url", "postgres://app:", random(alnums, 12), "@db.host:5432/app\n"),
		around("mongodb url", "mongodb+srv://app:", random(alnums, 12), "@cluster0.mongodb.net/app\n"),
		around("redis url", "redis://:", random(alnums, 12), "@cache:6379/0\n"),
		around("mysql url", "mysql://root:", symbols, "@db/app\n"),
		around("mysql dsn", `db, err := sql.Open("mysql", "root:`, random(alnums, 12), `@tcp(db:3306)/app")`+"\n"),
		around("amqp url", "amqp://guest:", random(alnums, 9), "@mq:5672/\n"),
		around("odbc", "Driver={ODBC};Server=db;Uid=sa;Pwd=", symbols, ";\n"),
		around("https url", "git clone https://user:", random(alnums, 10), "@host/repo.git\n"),
		around("sentry dsn", "https://", random(hexes, 32), "@o12345.ingest.sentry.io/678\n"),
		around("header basic", "> Authorization: Basic ", func(m maker) string {
			return base64.StdEncoding.EncodeToString([]byte("admin:" + m.Of(alnums, 10)))
		}, "\n"),
		around("header bearer", "authorization: bearer ", random(alnums, 32), "\n"),
		around("cookie", "Cookie: theme=dark; session=", random(alnums, 32), "\n"),
		around("set-cookie", "< Set-Cookie: sid=", random(alnums, 32), "; Path=/; HttpOnly\n"),
		around("short password", "PASSWORD=", fixed(hidden), "\n"),
		around("symbol password", "DB_PASSWORD=", symbols, "\n"),
		around("PASS", "MYSQL_PASS=", random(alnums, 10), "\n"),
		around("PWD", "DB_PWD=", random(alnums, 10), "\n"),
		around("PASSPHRASE", "GPG_PASSPHRASE=", random(lowers, 18), "\n"),
		around("PIN", "CARD_PIN=", func(m maker) string { return "7" + m.Of(digits, 5) }, "\n"),
		around("SALT", "HASH_SALT=", random(alnums, 24), "\n"),
		around("LICENSE", "LICENSE_KEY=", func(m maker) string {
			return m.Of(uppers+digits, 5) + "-" + m.Of(uppers+digits, 5) + "-" + m.Of(uppers+digits, 5) + "-" + m.Of(uppers+digits, 5)
		}, "\n"),
		around("NAME=random", "SOMETHING=", random(alnums, 32), "\n"),
		around("yaml pass", "smtp:\n  user: app\n  pass: ", random(alnums, 12), "\n"),
		around("json pass", `{"user": "app", "pass": "`, random(lowers+digits, 9), `"}`),
		around("django", "SECRET_KEY = 'django-insecure-", random(lowers+digits+"!@#$%^&*(-_=+)", 50), "'\n"),
		around("netrc", "machine api.host login someone password ", random(lowers+digits, 12), "\n"),
		around("pgpass", "db.host:5432:app:someone:", random(alnums, 12), "\n"),
		around("mysql -p", "mysqldump -u root -p", random(alnums, 10), " app\n"),
		around("sshpass", "sshpass -p '", random(alnums, 10), "' ssh host\n"),
		around("docker pat", "", prefixed("dckr"+"_pat_", alnums, 27), "\n"),
		wholeKey("pem without end", "RSA PRIVATE KEY", "tail"),
		wholeKey("pem without begin", "PRIVATE KEY", "head"),
		{"putty", func(m maker) (string, string) {
			_, body, _ := m.PEM("X", 4)
			return "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nPrivate-Lines: 4\n" + body + "Private-MAC: " + m.Of(hexes, 64) + "\n", body[65:129]
		}},
		around("totp", "otpauth://totp/Host:someone?secret=", random("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32), "&issuer=Host\n"),
		around("webhook secret", "", prefixed("wh"+"sec_", alnums, 32), "\n"),
		around("supabase", "", prefixed("sb"+"p_", hexes, 40), "\n"),
		around("sentry token", "", prefixed("snt"+"rys_", alnums, 80), "\n"),
		around("groq", "", prefixed("gs"+"k_", alnums, 52), "\n"),
		around("xai", "", prefixed("xa"+"i-", alnums, 80), "\n"),
		around("replicate", "", prefixed("r"+"8_", alnums, 37), "\n"),
		around("google client", "", prefixed("GOC"+"SPX-", alnums, 28), "\n"),
		around("google refresh", "", prefixed("1/"+"/0", alnums, 60), "\n"),
		around("fcm", "", func(m maker) string { return "AAAA" + m.Of(alnums, 7) + ":" + m.Of(alnums, 140) }, "\n"),
		around("tailscale", "", func(m maker) string { return "ts" + "key-auth-" + m.Of(alnums, 12) + "-" + m.Of(alnums, 32) }, "\n"),
		around("discord bot", "", func(m maker) string { return "MT" + m.Of(alnums, 24) + "." + m.Of(alnums, 6) + "." + m.Of(alnums, 38) }, "\n"),
		around("wallet words", "mnemonic: ", func(m maker) string { return words(m, 12) }, "\n"),
	}
}

func tries(short int) int {
	if n, err := strconv.Atoi(os.Getenv("ENTIRE_TEST_ATTACK")); err == nil {
		return n
	}
	return short
}

// placesOfSecrets put a text in the places of a transcript where texts occur.
var placesOfSecrets = map[string]func(text string) any{
	"tool output": func(text string) any {
		return map[string]any{"type": "user", "message": map[string]any{"content": []any{map[string]any{"type": "tool_result", "content": text}}}, "toolUseResult": map[string]any{"stdout": text}}
	},
	"command": func(text string) any {
		return map[string]any{"type": "assistant", "message": map[string]any{"content": []any{map[string]any{"type": "tool_use", "input": map[string]any{"command": "cat <<EOF\n" + text + "EOF"}}}}}
	},
	"answer": func(text string) any {
		return map[string]any{"type": "assistant", "message": map[string]any{"content": []any{map[string]any{"type": "text", "text": "It says:\n\n```\n" + text + "```\n"}}}}
	},
	"prompt": func(text string) any {
		return map[string]any{"type": "user", "message": map[string]any{"content": "Use this: " + text}}
	},
	"below a comment": func(text string) any {
		return map[string]any{"toolUseResult": map[string]any{"stdout": "# gitleaks:allow\n" + text}}
	},
}

// TestAttackKinds checks that every kind of secret is masked anywhere in a line of a transcript.
func TestAttackKinds(t *testing.T) {
	t.Parallel()
	r := redact.New()
	kinds := kindsOfSecrets()
	n, masked, total := tries(5), 0, 0
	for i, k := range kinds {
		m := secretkinds.New(uint64(i), 7)
		left := 0
		for place, put := range placesOfSecrets {
			for range n {
				text, secret := k.make(m)
				line, err := json.Marshal(put(text))
				if err != nil {
					t.Fatal(err)
				}
				total++
				got := string(r.Line(line))
				escaped, err := json.Marshal(secret)
				if err != nil {
					t.Fatal(err)
				}
				if !json.Valid([]byte(got)) {
					t.Fatalf("%s: not valid JSON: %s", k.name, got)
				}
				if strings.Contains(got, strings.Trim(string(escaped), `"`)) {
					if left++; left == 1 {
						t.Logf("%s in %s: %s", k.name, place, got)
					}
					continue
				}
				masked++
			}
		}
		if left*20 > n*len(placesOfSecrets) {
			t.Errorf("%s: %d of %d left", k.name, left, n*len(placesOfSecrets))
		}
	}
	t.Logf("%d kinds, %d of %d masked (%.2f %%)", len(kinds), masked, total, 100*float64(masked)/float64(total))
	if masked*1000 < total*998 {
		t.Errorf("%d of %d masked, want 99.8 %%", masked, total)
	}
}

// TestAttackKindsEncoded checks that every kind of secret is masked in an encoded text, anywhere in
// a line of a transcript.
func TestAttackKindsEncoded(t *testing.T) {
	t.Parallel()
	r := redact.New()
	n, total, masked := max(1, tries(5)/5), 0, 0
	for i, k := range kindsOfSecrets() {
		m := secretkinds.New(uint64(i), 8)
		for name, encode := range encodings {
			for place, put := range placesOfSecrets {
				for range n {
					text, secret := k.make(m)
					encoded := encode(text)
					line, err := json.Marshal(put("data: " + encoded + "\n"))
					if err != nil {
						t.Fatal(err)
					}
					total++
					got := string(r.Line(line))
					if !json.Valid([]byte(got)) {
						t.Fatalf("%s, %s: not valid JSON: %s", k.name, name, got)
					}
					if !strings.Contains(got, encoded) && !strings.Contains(got, encode(secret)) {
						masked++
						continue
					}
					t.Logf("%s, %s, in %s: %q: %s", k.name, name, place, text, got)
				}
			}
		}
	}
	t.Logf("%d of %d masked (%.2f %%)", masked, total, 100*float64(masked)/float64(total))
	if masked*1000 < total*995 {
		t.Errorf("%d of %d masked, want 99.5 %%", masked, total)
	}
}
