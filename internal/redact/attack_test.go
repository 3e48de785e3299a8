package redact_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/redact/forgotten"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// secretTexts make texts of about size bytes that consist of secrets. Each slows down a different
// part of the search.
var secretTexts = map[string]func(size int) []byte{
	"one on a line": func(size int) []byte {
		return secrets(size, func(rng *rand.Rand) string { return "api_key=" + randomToken(rng, 32) + "\n" })
	},
	"all on one line": func(size int) []byte {
		return secrets(size, func(rng *rand.Rand) string { return "api_key=" + randomToken(rng, 32) + " " })
	},
	"all on the last line": func(size int) []byte {
		return append([]byte("import \n"), secrets(size, func(rng *rand.Rand) string { return "api_key=" + randomToken(rng, 32) + "\r" })...)
	},
	"the same prefix": func(size int) []byte {
		return secrets(size, func(rng *rand.Rand) string { return "sk_live_" + randomToken(rng, 24) + "\n" })
	},
	"two rules on one line": func(size int) []byte {
		return secrets(size, func(rng *rand.Rand) string {
			return "token=ghp_" + randomToken(rng, 36) + " secret=" + randomToken(rng, 30) + " "
		})
	},
}

func secrets(size int, next func(*rand.Rand) string) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < size {
		b.WriteString(next(rng))
	}
	return b.Bytes()
}

func randomToken(rng *rand.Rand, n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[rng.IntN(len(letters))]
	}
	return string(b)
}

// Eight times as many secrets take about eight times as long. A search that compares every secret
// with every other one takes 64 times as long.
//
//nolint:paralleltest // measures time, so not next to the tests that work at once
func TestAttackManySecretsInOneText(t *testing.T) {
	testkit.Long(t, "it measures processor time, which the race detector distorts")
	r := redact.New()
	const small = 12 << 10
	for name, text := range secretTexts {
		t.Run(name, func(t *testing.T) {
			if out := r.Text(string(text(small))); strings.Count(out, redact.Mark) < small/100 {
				t.Fatalf("only %d secrets found", strings.Count(out, redact.Mark))
			}
			once := least(t, r, string(text(small)))
			if eight := least(t, r, string(text(8*small))); eight > 30*once {
				t.Errorf("%v for 12 KiB of secrets, %v for 96", once, eight)
			}
		})
	}
}

// least returns the least processor time of three runs.
func least(t *testing.T, r *redact.Redactor, text string) time.Duration {
	t.Helper()
	var took [3]time.Duration
	for i := range took {
		took[i] = testkit.ProcessorTime(t, func() { r.Text(text) })
	}
	return slices.Min(took[:])
}

// A search for secrets or for forgotten texts ends soon after its deadline, although a complete one
// would take seconds.
func TestAttackLongLineObeysItsDeadline(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "texts of 4 MB")
	const size, patience = 4 << 20, time.Second
	r := redact.New()
	texts := maps.Clone(secretTexts)
	texts["base64"] = func(size int) []byte {
		return secrets(size, func(rng *rand.Rand) string {
			return base64.StdEncoding.EncodeToString([]byte("api_key = "+randomToken(rng, 32))) + "\n"
		})
	}
	texts["percent-encoded"] = func(size int) []byte {
		return secrets(size, func(rng *rand.Rand) string { return "%61pi_key=" + randomToken(rng, 32) + "\n" })
	}
	texts["letters that fold"] = func(size int) []byte {
		return append([]byte("\u017f "), bytes.Repeat([]byte("key token secret "), size/17)...)
	}
	for name, piece := range map[string]string{
		"words of phrases": "zoo abandon zero ability able ", "numbers": "112, 97, 115, 1000, ", "hex": "70 61 73 zz ", "joined": `"abc" + "def" `,
		"signatures": "asig=bsig=", "words for passwords": "pass w0rd ", "web tokens": "eyJhb.eyJhb.", "zeros": "a\x00", "wrapped": "QUJDREVGR0hJSktMTU5P\n",
		"flags": " -p a1", "dumps": "00000000: 7061 7373\n", "entities": "&#112;", "soft breaks": "ab=\nc",
	} {
		texts[name] = func(size int) []byte { return bytes.Repeat([]byte(piece), size/len(piece)) }
	}
	texts["no JSON"] = func(size int) []byte { return bytes.Repeat([]byte(`"\n`), size/3) }
	var marks []forgotten.Text
	for n := 8; n < 64; n++ {
		marks = append(marks, forgotten.MarkText([]byte("salt"), strings.Repeat("x", n))...)
	}
	forget := forgotten.New([]forgotten.Marks{{Salt: "salt", Forms: marks}})
	for name, text := range texts {
		data := text(size)
		line, err := json.Marshal(map[string]string{"text": string(data)})
		if err != nil {
			t.Fatal(err)
		}
		if name == "no JSON" {
			line = data
		}
		for what, do := range map[string]func(context.Context) (int, error){
			"line": func(ctx context.Context) (int, error) { out, err := r.LineContext(ctx, line); return len(out), err },
			"text": func(ctx context.Context) (int, error) {
				out, err := r.TextContext(ctx, string(data))
				return len(out), err
			},
			"mask": func(ctx context.Context) (int, error) {
				out, err := redact.MaskContext(ctx, forget, line)
				return len(out), err
			},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			out, err := do(ctx)
			end, _ := ctx.Deadline()
			late := time.Since(end)
			cancel()
			inTime := err == nil && late <= patience // it may finish just in time
			if !inTime && (!errors.Is(err, context.DeadlineExceeded) || out != 0 || late > patience) {
				t.Errorf("%s of %s: %d bytes, %v, %v after the deadline", what, name, out, err, late)
			}
		}
	}
}

// A panic in a long text reaches the caller, which may recover from it.
func TestLongTextPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	_, _ = (&redact.Redactor{}).TextContext(t.Context(), strings.Repeat("x", 1<<17))
}

// A secret is replaced everywhere, even if a shorter secret that it begins with was found there, or
// a longer one begins with it.
func TestSecretsWithCommonPrefix(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	base := randomToken(rng, 20)
	short, long, longest := base, base+randomToken(rng, 10), base+randomToken(rng, 22)
	var b strings.Builder
	for _, s := range []string{longest, short, long} {
		fmt.Fprintf(&b, "api_key=%s\n", s)
	}
	fmt.Fprintf(&b, "<%s> <%s> <%s>", long, longest, short)
	out := redact.New().Text(b.String())
	want := strings.Repeat("api_key=REDACTED\n", 3) + "<REDACTED> <REDACTED> <REDACTED>"
	if out != want {
		t.Errorf("got %q", out)
	}
}

// A path with many dots takes time in proportion to its length.
func TestAttackPathOfManyDots(t *testing.T) {
	t.Parallel()
	r := redact.New()
	path := func(n int) string {
		return "ghp_" + randomToken(rand.New(rand.NewPCG(5, 6)), 36) + strings.Repeat("/a.b", n)
	}
	if out := r.Path(path(1 << 16)); strings.Contains(out, "ghp_") {
		t.Error("the token is there")
	}
	if dots := "ghp_" + strings.Repeat("a.", 1<<19); r.Path(dots) != dots {
		t.Error("a path without a secret was changed")
	}
}

func BenchmarkManySecrets(b *testing.B) {
	r := redact.New()
	for name, text := range secretTexts {
		for _, size := range []int{1 << 19, 1 << 20, 2 << 20, 4 << 20} {
			b.Run(fmt.Sprintf("%s/%dKiB", name, size>>10), func(b *testing.B) {
				s := string(text(size))
				b.SetBytes(int64(len(s)))
				for b.Loop() {
					r.Text(s)
				}
			})
		}
	}
}
