package main

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"
)

// writer makes random lines of a transcript in the agent's format. Equal seeds give equal lines.
type writer struct {
	rng     *rand.Rand
	session string
	cwd     string
	now     func() time.Time
	form    *agentForm // nil for Claude Code's
}

func newWriter(seed uint64, session, cwd string, now func() time.Time) *writer {
	rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // no secret: the same for the same seed
	return &writer{rng: rng, session: session, cwd: cwd, now: now}
}

// since returns a clock that advances by a second on each call.
func since(start time.Time) func() time.Time {
	return func() time.Time {
		start = start.Add(time.Second)
		return start
	}
}

// text returns words of about n bytes, escaped for a JSON string.
func (w *writer) text(n int) string {
	list := strings.Fields(`alpha beta gamma delta parse token buffer stream index commit branch merge rebase hook
		session state shadow tree blob object ref path file line hunk diff patch apply check verify load save`)
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(list[w.rng.IntN(len(list))])
		b.WriteByte(" \n"[w.rng.IntN(12)/11])
	}
	return strings.ReplaceAll(b.String(), "\n", `\n`)
}

func (w *writer) hex(n int) string {
	return fmt.Sprintf("%0*x", n, w.rng.Uint64()>>(64-4*n))
}

// line returns a whole line with a message.
func (w *writer) line(kind, message string) string {
	id := w.hex(8) + "-" + w.hex(4) + "-4" + w.hex(3) + "-8" + w.hex(3) + "-" + w.hex(12)
	return `{"parentUuid":"` + id + `","isSidechain":false,"userType":"external","cwd":"` + w.cwd + `","sessionId":"` + w.session +
		`","version":"2.1.0","gitBranch":"main","uuid":"` + id + `","timestamp":"` + w.now().UTC().Format("2006-01-02T15:04:05.000Z") +
		`","type":"` + kind + `","message":` + message + "}\n"
}

func (w *writer) prompt(text string) string {
	if w.form != nil {
		return w.form.prompt(w, text)
	}
	return w.line("user", `{"role":"user","content":"`+text+`"}`)
}

func (w *writer) assistant(content string) string {
	usage := `{"input_tokens":` + strconv.Itoa(w.rng.IntN(100)) + `,"cache_creation_input_tokens":` + strconv.Itoa(w.rng.IntN(1000)) +
		`,"cache_read_input_tokens":` + strconv.Itoa(w.rng.IntN(50000)) + `,"output_tokens":` + strconv.Itoa(w.rng.IntN(500)) + `}`
	return w.line("assistant", `{"id":"msg_`+w.hex(12)+`","role":"assistant","model":"m","content":[`+content+`],"usage":`+usage+`}`)
}

func (w *writer) says(text string) string {
	if w.form != nil {
		return w.form.said(w, text)
	}
	return w.assistant(`{"type":"text","text":"` + text + `"}`)
}

// call returns a tool call and its result.
func (w *writer) call(name, input string, size int) string {
	if w.form != nil {
		return w.form.call(w, name, input, w.text(size))
	}
	id := "toolu_" + w.hex(12)
	return w.assistant(`{"type":"tool_use","id":"`+id+`","name":"`+name+`","input":{`+input+`}}`) +
		w.line("user", `{"role":"user","content":[{"tool_use_id":"`+id+`","type":"tool_result","content":"`+w.text(size)+`"}]}`)
}

// step returns the next event. A prompt occurs about twice per megabyte, as in recorded sessions.
func (w *writer) step() string {
	switch r := w.rng.IntN(1000); {
	case r < 6: //nolint:mnd // per mille
		return w.prompt(w.text(120))
	case r < 500: //nolint:mnd // per mille
		return w.says(w.text(400 + w.rng.IntN(800)))
	case r < 750: //nolint:mnd // per mille
		return w.call("Read", `"file_path":"`+w.cwd+`/x.go"`, 600+w.rng.IntN(4000))
	default:
		return w.call("Bash", `"command":"`+w.text(60)+`"`, 600+w.rng.IntN(4000))
	}
}

// conversation writes a transcript of size bytes that ended some time ago.
func conversation(path string, size int64) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	w := newWriter(uint64(size), "past", "/repo", since(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	for n := int64(0); n < size && err == nil; {
		text := w.step()
		n += int64(len(text))
		_, err = out.WriteString(text)
	}
	return errors.Join(err, out.Flush(), file.Close())
}
