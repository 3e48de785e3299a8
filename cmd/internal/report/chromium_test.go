package report_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// browserPatience is the maximum time to wait for a reply or an event.
const browserPatience = 90 * time.Second

// chromium is a running Chromium, driven without a window by its own protocol over two pipes: no
// port is opened.
type chromium struct {
	in *os.File

	lock    sync.Mutex // guards the fields below
	last    int
	waiting map[int]chan browserMessage
	events  []browserEvent
	ended   chan struct{}
}

// browserMessage is a reply or an event.
type browserMessage struct {
	ID      int             `json:"id"`
	Method  string          `json:"method"`
	Session string          `json:"sessionId"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// browserEvent is an event of a page.
type browserEvent struct {
	Session, Method string
	Params          json.RawMessage
}

// startChromium starts the program. It is stopped when the test ends.
func startChromium(tb testing.TB, program string) *chromium {
	tb.Helper()
	commands, in, err := os.Pipe()
	mustBrowse(tb, err)
	out, replies, err := os.Pipe()
	mustBrowse(tb, err)
	cmd := exec.Command(program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-extensions",
		"--disable-background-networking", "--disable-component-update", "--force-color-profile=srgb", "--remote-debugging-pipe", "--user-data-dir="+tb.TempDir())
	cmd.ExtraFiles = []*os.File{commands, replies}
	mustBrowse(tb, cmd.Start())
	mustBrowse(tb, commands.Close())
	mustBrowse(tb, replies.Close())
	b := &chromium{in: in, waiting: map[int]chan browserMessage{}, ended: make(chan struct{})}
	go b.read(out)
	tb.Cleanup(func() {
		_ = b.send(browserMessage{}, "Browser.close", nil)
		select {
		case <-b.ended:
		case <-time.After(browserPatience):
			_ = cmd.Process.Kill()
		}
		_ = cmd.Wait()
		_, _ = in.Close(), out.Close()
	})
	return b
}

func mustBrowse(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// read reads the browser's messages until it exits.
func (b *chromium) read(out *os.File) {
	defer close(b.ended)
	const largest = 256 << 20
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, largest)
	lines.Split(func(data []byte, _ bool) (int, []byte, error) {
		if i := strings.IndexByte(string(data), 0); i >= 0 {
			return i + 1, data[:i], nil
		}
		return 0, nil, nil
	})
	for lines.Scan() {
		var m browserMessage
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue
		}
		b.lock.Lock()
		if m.ID == 0 {
			b.events = append(b.events, browserEvent{m.Session, m.Method, m.Params})
		} else if reply := b.waiting[m.ID]; reply != nil {
			delete(b.waiting, m.ID)
			reply <- m
		}
		b.lock.Unlock()
	}
}

func (b *chromium) send(m browserMessage, method string, params any) error {
	data, err := json.Marshal(map[string]any{"id": m.ID, "sessionId": m.Session, "method": method, "params": params})
	if m.Session == "" {
		data, err = json.Marshal(map[string]any{"id": m.ID, "method": method, "params": params})
	}
	if err != nil {
		return err
	}
	_, err = b.in.Write(append(data, 0))
	return err
}

// call calls a method of the protocol.
func (b *chromium) call(tb testing.TB, session, method string, params, result any) {
	tb.Helper()
	if params == nil {
		params = struct{}{}
	}
	b.lock.Lock()
	b.last++
	reply := make(chan browserMessage, 1)
	m := browserMessage{ID: b.last, Session: session}
	b.waiting[m.ID] = reply
	b.lock.Unlock()
	mustBrowse(tb, b.send(m, method, params))
	select {
	case m = <-reply:
	case <-b.ended:
		tb.Fatalf("%s: the browser ended", method)
	case <-time.After(browserPatience):
		tb.Fatalf("%s: no reply", method)
	}
	if m.Error != nil {
		tb.Fatalf("%s: %s", method, m.Error.Message)
	}
	if result != nil {
		mustBrowse(tb, json.Unmarshal(m.Result, result))
	}
}

// browserPage is an open page.
type browserPage struct {
	*chromium

	session string
}

// Open opens a URL and waits until it is loaded.
func (b *chromium) Open(tb testing.TB, url string) *browserPage {
	tb.Helper()
	var target struct {
		ID      string `json:"targetId"`
		Session string `json:"sessionId"`
	}
	b.call(tb, "", "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	b.call(tb, "", "Target.attachToTarget", map[string]any{"targetId": target.ID, "flatten": true}, &target)
	p := &browserPage{b, target.Session}
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		p.Call(tb, domain+".enable", nil, nil)
	}
	tb.Cleanup(func() { b.call(tb, "", "Target.closeTarget", map[string]any{"targetId": target.ID}, nil) })
	p.Go(tb, url)
	return p
}

// Go navigates to a URL and waits until it is loaded.
func (p *browserPage) Go(tb testing.TB, url string) {
	tb.Helper()
	before := len(p.Events("Page.loadEventFired"))
	p.Call(tb, "Page.navigate", map[string]any{"url": url}, nil)
	end := time.Now().Add(browserPatience)
	for len(p.Events("Page.loadEventFired")) == before {
		if time.Now().After(end) {
			tb.Fatalf("%s: not loaded", url)
		}
		time.Sleep(5 * time.Millisecond) //nolint:mnd // events have no other way to be waited for
	}
}

// Call calls a method of the protocol for the page.
func (p *browserPage) Call(tb testing.TB, method string, params, result any) {
	tb.Helper()
	p.call(tb, p.session, method, params, result)
}

// Events returns the page's events with this name so far.
func (p *browserPage) Events(method string) (list []browserEvent) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, e := range p.events {
		if e.Session == p.session && e.Method == method {
			list = append(list, e)
		}
	}
	return list
}

// Eval evaluates an expression in the page, and waits for it if it is a promise.
func (p *browserPage) Eval(tb testing.TB, expression string, result any) {
	tb.Helper()
	var r struct {
		Result    struct{ Value json.RawMessage }
		Exception *struct {
			Text      string
			Exception struct{ Description string }
		} `json:"exceptionDetails"`
	}
	p.Call(tb, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if r.Exception != nil {
		tb.Fatalf("%s\n%s %s", expression, r.Exception.Text, r.Exception.Exception.Description)
	}
	if result != nil {
		mustBrowse(tb, json.Unmarshal(r.Result.Value, result))
	}
}

// Size sets the size of the window.
func (p *browserPage) Size(tb testing.TB, width, height int) {
	tb.Helper()
	p.Call(tb, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// Media sets the media type, screen or print, and the color scheme, light or dark.
func (p *browserPage) Media(tb testing.TB, media, scheme string) {
	tb.Helper()
	p.Call(tb, "Emulation.setEmulatedMedia", map[string]any{
		"media": media, "features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}},
	}, nil)
}

// Press presses a key: a letter, a sign or a named key.
func (p *browserPage) Press(tb testing.TB, key string) {
	tb.Helper()
	event := map[string]any{"type": "keyDown", "key": key}
	if len(key) == 1 {
		event["text"] = key
	}
	if code, named := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27}[key]; named {
		event["windowsVirtualKeyCode"], event["code"] = code, key
		if key == "Enter" {
			event["text"] = "\r"
		}
	}
	p.Call(tb, "Input.dispatchKeyEvent", event, nil)
	event["type"] = "keyUp"
	delete(event, "text")
	p.Call(tb, "Input.dispatchKeyEvent", event, nil)
}

// Screenshot writes an image of the window's content to a file.
func (p *browserPage) Screenshot(tb testing.TB, file string) {
	tb.Helper()
	var shot struct{ Data string }
	p.Call(tb, "Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	mustBrowse(tb, err)
	mustBrowse(tb, os.WriteFile(file, data, 0o644))
}

// Problems returns events that must not occur on a page: requests for other resources, dialogs,
// script errors, and violations of its policy.
func (p *browserPage) Problems(tb testing.TB) (list []string) {
	tb.Helper()
	for i, e := range p.Events("Network.requestWillBeSent") {
		var r struct{ Request struct{ URL string } }
		mustBrowse(tb, json.Unmarshal(e.Params, &r))
		if i > 0 || !strings.HasPrefix(r.Request.URL, "file:") {
			list = append(list, "request of "+r.Request.URL)
		}
	}
	for _, method := range []string{"Page.javascriptDialogOpening", "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"} {
		for _, e := range p.Events(method) {
			list = append(list, fmt.Sprintf("%s %.400s", method, e.Params))
		}
	}
	return list
}
