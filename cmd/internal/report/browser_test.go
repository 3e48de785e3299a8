package report_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/cmd/internal/report"
)

// TestBrowser opens pages in Chromium; `make browser` runs it.
//
//	ENTIRE_TEST_BROWSER  the program
//	ENTIRE_TEST_AXE      axe.min.js of axe-core: the accessibility check
//	ENTIRE_TEST_SHOTS    a directory for screenshots
//	ENTIRE_TEST_PAGES    pages made from records, to check and to show as well
//	ENTIRE_TEST_TEXTS    the number of random hostile texts, by default 20
func TestBrowser(t *testing.T) {
	program := os.Getenv("ENTIRE_TEST_BROWSER")
	if program == "" {
		t.Skip("make browser runs it")
	}
	b := startChromium(t, program)
	t.Run("hostile", func(t *testing.T) { testHostile(t, b) })
	t.Run("policy", func(t *testing.T) { testPolicy(t, b) })
	t.Run("keyboard", func(t *testing.T) { testKeyboard(t, b) })
	t.Run("filters", func(t *testing.T) { testFilters(t, b) })
	t.Run("tab", func(t *testing.T) { testTab(t, b) })
	t.Run("screen reader", func(t *testing.T) { testScreenReader(t, b) })
	t.Run("find", func(t *testing.T) { testFind(t, b) })
	t.Run("print", func(t *testing.T) { testPrint(t, b) })
	t.Run("large", func(t *testing.T) { testLarge(t, b) })
	pages := map[string]string{"example": pageOf(t, many(12)), "session": pageOf(t, sessionsOf(1)), "sessions": pageOf(t, sessionsOf(100))}
	for file := range strings.FieldsSeq(os.Getenv("ENTIRE_TEST_PAGES")) {
		pages[strings.TrimSuffix(filepath.Base(file), ".html")] = file
	}
	for name, file := range pages {
		t.Run(name, func(t *testing.T) { testLook(t, b, name, file) })
	}
}

// pageOf writes the page of a report to a file.
func pageOf(tb testing.TB, r *report.Report) string {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(html(tb, r)), 0o600); err != nil {
		tb.Fatal(err)
	}
	return file
}

// many returns a report of n turns and commits with readable texts.
func many(n int) *report.Report {
	r := &report.Report{
		Name: "tally", Selection: "Branch feature", Made: time.Date(2026, 3, 4, 17, 0, 0, 0, time.UTC), Version: "test",
		Prices: report.Prices{Date: "2026-01-01", Currency: "USD"},
	}
	for i := range n {
		one := example(fmt.Sprintf("words of entry %d", i))
		t, c := one.Turns[0], one.Commits[0]
		t.ID, t.At, t.Agent = fmt.Sprintf("turn-a-%d", i), t.At.Add(time.Duration(i)*5*time.Hour), []string{"Claude Code", "Codex"}[i%2]
		t.Title, t.Session = fmt.Sprintf("Count the words of file %d, and sort the list", i), "5f2a91c0"
		t.Prompt = t.Title + "\n\nA person's text of several lines.\nThe second line."
		t.Answer = strings.Repeat("I read the file, and wrote a function that counts. ", 4)
		for n := range t.Files {
			t.Files[n].Path = fmt.Sprintf("internal/words/file%d_%d.go", i, n)
		}
		c.Files = t.Files
		t.Commits, c.Turns = []int{i}, []int{i}
		c.OID, c.At, c.Author, c.Subject = fmt.Sprintf("%016x", i+1), t.At.Add(time.Hour), []string{"Ada", "Grace"}[i%2], fmt.Sprintf("words: count those of file %d", i)
		r.Turns, r.Commits = append(r.Turns, t), append(r.Commits, c)
	}
	r.Rewinds = []report.Rewind{{At: r.Turns[n-1].At.Add(2 * time.Hour), Target: "v4", Rescue: "v9"}}
	return r
}

// texts returns the hostile texts, and random combinations of their pieces.
func texts(tb testing.TB) []string {
	tb.Helper()
	n := 20
	if s := os.Getenv("ENTIRE_TEST_TEXTS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			tb.Fatal(err)
		}
	}
	list := hostile()
	seed := uint64(time.Now().UnixNano())
	tb.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range n {
		var b strings.Builder
		for b.Len() < 150 {
			piece := hostile()[random.IntN(len(hostile()))]
			from := random.IntN(len(piece))
			b.WriteString(piece[from : from+random.IntN(len(piece)-from)+1])
			if random.IntN(4) == 0 {
				b.WriteByte(byte(random.IntN(256)))
			}
		}
		list = append(list, b.String())
	}
	return list
}

// elements is a script that returns the elements of a page, with the names of their attributes, without
// those that the page's script sets.
const elements = `Array.from(document.querySelectorAll("*"), (e) => e.localName + " " + Array.from(e.attributes, (a) => a.name).filter((n) => n !== "open" && (n !== "style" || e !== document.documentElement)).sort().join(" "))`

// testHostile checks that no hostile text runs a script, creates an element or causes a request.
func testHostile(t *testing.T, b *chromium) {
	for _, text := range texts(t) {
		p := b.Open(t, "file://"+pageOf(t, example(text)))
		p.Eval(t, `for (const d of document.querySelectorAll("details")) d.open = true`, nil)
		var hit bool
		var got, want []string
		p.Eval(t, `window.hit !== undefined`, &hit)
		p.Eval(t, elements, &got)
		if hit {
			t.Errorf("%q ran a script", text)
		}
		if problems := p.Problems(t); len(problems) > 0 {
			t.Errorf("%q: %s", text, problems)
		}
		p.Go(t, "file://"+pageOf(t, example(plain(text))))
		p.Eval(t, elements, &want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q makes elements:\n%s", text, diff)
		}
	}
}

// testPolicy checks that the policy of the page blocks content that a bug could let in.
func testPolicy(t *testing.T, b *chromium) {
	p := b.Open(t, "file://"+pageOf(t, many(2)))
	p.Eval(t, `(() => {
		const add = (name, set) => document.body.append(Object.assign(document.createElement(name), set));
		add("script", {textContent: "window.hit = 1"});
		add("script", {src: "https://example.com/x.js"});
		add("img", {src: "https://example.com/x.png"});
		add("iframe", {src: "https://example.com/"});
		add("link", {rel: "stylesheet", href: "https://example.com/x.css"});
		add("style", {textContent: "body { display: none }"});
		const div = document.createElement("div");
		div.innerHTML = "<p style='color: red' onclick='window.hit = 2' id='clicked'>x</p>";
		document.body.append(div);
		document.getElementById("clicked").click();
		return fetch("https://example.com/").catch(() => {});
	})()`, nil)
	var state struct {
		Hit     bool
		Display string
		Color   string
	}
	p.Eval(t, `({Hit: window.hit !== undefined, Display: getComputedStyle(document.body).display, Color: document.getElementById("clicked").style.color})`, &state)
	if state.Hit || state.Display != "block" || state.Color != "" {
		t.Errorf("the policy lets things by: %+v", state)
	}
	for _, problem := range p.Problems(t) {
		if strings.HasPrefix(problem, "request of http") && !slices.ContainsFunc(p.Events("Network.loadingFailed"), func(e browserEvent) bool {
			return strings.Contains(string(e.Params), `"blockedReason":"csp"`)
		}) {
			t.Error(problem)
		}
	}
}

// testKeyboard checks the keys that search, move between entries, open them, and change the colors.
func testKeyboard(t *testing.T, b *chromium) {
	p := b.Open(t, "file://"+pageOf(t, many(6)))
	focus := func() (id string) {
		p.Eval(t, `(document.activeElement.closest(".entry") ?? document.activeElement).id || document.activeElement.name || document.activeElement.localName`, &id)
		return id
	}
	p.Eval(t, `document.getElementById("timeline").scrollIntoView()`, nil)
	p.Press(t, "Tab")
	for _, step := range []struct{ key, want string }{{"/", "q"}, {"Escape", "body"}} {
		if p.Press(t, step.key); focus() != step.want {
			t.Errorf("%s: the focus is on %s, want %s", step.key, focus(), step.want)
		}
	}
	p.Press(t, "j")
	first := focus()
	p.Press(t, "j")
	second := focus()
	p.Press(t, "o")
	var open bool
	p.Eval(t, fmt.Sprintf("document.getElementById(%q).open", second), &open)
	p.Press(t, "k")
	if !strings.HasPrefix(first, "turn-") && !strings.HasPrefix(first, "commit-") || first == second || !open || focus() != first {
		t.Errorf("j, j, o, k: %s, %s, open %t, %s", first, second, open, focus())
	}
	var theme string
	p.Press(t, "t")
	p.Eval(t, "document.documentElement.dataset.theme ?? ''", &theme)
	if theme == "" {
		t.Error("t doesn't change the colours")
	}
	p.Eval(t, `document.querySelector("[data-do=keys]").click()`, nil)
	p.Press(t, "j")
	if focus() != first {
		t.Errorf("the keys are turned off, and j moves the focus from %s to %s", first, focus())
	}
	if problems := p.Problems(t); len(problems) > 0 {
		t.Error(problems)
	}
}

// testFilters checks that the search and the filters hide entries, and that a link leads to a turn
// even if it is hidden.
func testFilters(t *testing.T, b *chromium) {
	p := b.Open(t, "file://"+pageOf(t, many(6)))
	set := func(name, value string) (shown []string) {
		p.Eval(t, fmt.Sprintf(`new Promise((done) => {
			const form = document.querySelector(".filters");
			form.reset();
			form.elements[%q].value = %q;
			form.dispatchEvent(new Event("input"));
			setTimeout(() => done(Array.from(document.querySelectorAll(".moments > li:not([hidden]) > .entry"), (e) => e.id)), 300);
		})`, name, value), &shown)
		return shown
	}
	for _, c := range []struct {
		name, value string
		want        []string
	}{
		{"q", "file3_0", []string{"turn-a-3", "commit-000000000000"}},
		{"q", "FILE3_0 count", []string{"turn-a-3", "commit-000000000000"}},
		{"agent", "1", []string{"turn-a-1", "turn-a-3", "turn-a-5"}},
		{"file", "words/file2_", []string{"turn-a-2", "commit-000000000000"}},
		{"q", "nothing has this", nil},
	} {
		if diff := cmp.Diff(c.want, set(c.name, c.value)); diff != "" && len(c.want)+len(diff) > 0 {
			if len(c.want) == 0 && !strings.Contains(diff, "turn") {
				continue
			}
			t.Errorf("%s=%s:\n%s", c.name, c.value, diff)
		}
	}
	if n := len(set("person", "0")); n != 6 {
		t.Errorf("%d entries of a person", n)
	}
	var said string
	if p.Eval(t, `document.querySelector("output[aria-live=polite]").textContent`, &said); said != "6 of 13 entries" {
		t.Errorf("a screen reader says %q", said)
	}
	set("q", "file3_0")
	var state struct {
		Open, Hidden bool
		Top          float64
	}
	p.Eval(t, `new Promise((done) => { location.hash = "turn-a-5"; setTimeout(() => {
		const e = document.getElementById("turn-a-5");
		done({Open: e.open, Hidden: e.parentElement.hidden, Top: e.getBoundingClientRect().top});
	}, 300); })`, &state)
	if !state.Open || state.Hidden || state.Top < 0 || state.Top > 800 {
		t.Errorf("a link to a turn that was filtered out: %+v", state)
	}
}

// testTab goes through a page with the Tab key: the skip link is first and can be seen, each place has
// a visible focus that nothing covers, and after the last one the focus leaves the page.
func testTab(t *testing.T, b *chromium) {
	p := b.Open(t, "file://"+pageOf(t, sessionsOf(2)))
	for _, width := range []int{1280, 390} {
		p.Size(t, width, 700)
		p.Eval(t, `document.activeElement.blur(); scrollTo(0, 0); getSelection().collapse(document.body, 0); document.querySelectorAll(".entry").forEach((e) => { e.open = true; })`, nil)
		const most = 300
		seen := 0
		for ; seen < most; seen++ {
			p.Press(t, "Tab")
			var at struct {
				Name, Outline string
				Top, Bottom   float64
				Covered       bool
			}
			p.Eval(t, `(() => {
				const e = document.activeElement, r = e.getBoundingClientRect(), bar = document.querySelector(".filters");
				const covered = getComputedStyle(bar).position === "sticky" && !bar.contains(e) && bar.getBoundingClientRect().top <= 0 && r.top < bar.getBoundingClientRect().bottom - 1 && r.bottom < innerHeight;
				return {Name: e.localName + " " + (e.getAttribute("aria-label") ?? e.textContent).slice(0, 40), Outline: getComputedStyle(e).outlineStyle, Top: r.top, Bottom: r.bottom, Covered: covered};
			})()`, &at)
			if strings.HasPrefix(at.Name, "body") {
				break
			}
			if seen == 0 && !strings.HasPrefix(at.Name, "a Skip") {
				t.Errorf("the first place is %s", at.Name)
			}
			if at.Outline == "none" || at.Bottom <= 0 || at.Top >= 700 || at.Covered {
				t.Errorf("%d pixels: the focus on %q can't be seen: %+v", width, at.Name, at)
			}
		}
		if seen < 30 || seen == most {
			t.Errorf("%d pixels: %d places", width, seen)
		}
	}
}

// testScreenReader checks the tree that a screen reader gets: landmarks, headings, names of what can be
// operated, and whether parts are open.
func testScreenReader(t *testing.T, b *chromium) {
	p := b.Open(t, "file://"+pageOf(t, sessionsOf(2)))
	type value struct{ Value any }
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name value
			Properties []struct {
				Name  string
				Value value
			}
		}
	}
	p.Call(t, "Accessibility.enable", nil, nil)
	p.Call(t, "Accessibility.getFullAXTree", nil, &tree)
	roles := map[string]int{}
	level := 0.0
	for _, n := range tree.Nodes {
		if n.Ignored {
			continue
		}
		role, _ := n.Role.Value.(string)
		name, _ := n.Name.Value.(string)
		roles[role]++
		focusable, states := false, map[string]any{}
		for _, property := range n.Properties {
			states[property.Name] = property.Value.Value
			focusable = focusable || property.Name == "focusable" && property.Value.Value == true
		}
		if focusable && strings.TrimSpace(name) == "" && role != "RootWebArea" {
			t.Errorf("a %s without a name", role)
		}
		if _, known := states["expanded"]; role == "DisclosureTriangle" && !known {
			t.Errorf("%q: a screen reader can't say whether it is open", name)
		}
		if now, is := states["level"].(float64); is && role == "heading" {
			if now > level+1 {
				t.Errorf("heading %q has level %v after %v", name, now, level)
			}
			level = now
		}
	}
	for _, role := range []string{"banner", "navigation", "main", "search", "contentinfo", "table", "columnheader", "rowheader", "DisclosureTriangle", "status"} {
		if roles[role] == 0 {
			t.Errorf("no %s", role)
		}
	}
}

// testFind checks that text in closed parts is found: a link to a text opens them as the search of the
// browser does.
func testFind(t *testing.T, b *chromium) {
	file := pageOf(t, sessionsOf(3))
	for _, text := range []string{"It should fail without the limit.", "limit_test.go:31: the sixth try got 200", "the window starts at the first try"} {
		p := b.Open(t, "file://"+file+"#:~:text="+strings.ReplaceAll(text, " ", "%20"))
		var opened []string
		p.Eval(t, `new Promise((done) => setTimeout(() => done(Array.from(document.querySelectorAll("#timeline details[open]"), (e) => e.textContent)), 500))`, &opened)
		if !slices.ContainsFunc(opened, func(s string) bool { return strings.Contains(s, text) }) {
			t.Errorf("%q is not found: %d parts are open", text, len(opened))
		}
	}
}

// testPrint checks a page on paper: everything is shown, also what is closed; controls are not; and no
// line is cut.
func testPrint(t *testing.T, b *chromium) {
	const widthOfA4 = 680 // without its margins
	p := b.Open(t, "file://"+pageOf(t, sessionsOf(10)))
	p.Eval(t, `document.documentElement.dataset.theme = "dark"`, nil)
	p.Size(t, widthOfA4, 1000)
	p.Media(t, "print", "dark")
	var state struct {
		Closed, Controls, Wide []string
		Ground                 string
	}
	p.Eval(t, `(() => {
		const all = (selector) => Array.from(document.querySelectorAll(selector));
		const name = (e) => e.localName + " " + e.textContent.slice(0, 60);
		return {
			Closed: all("pre, .about:not(.here), table, .calls").filter((e) => !e.checkVisibility() || e.getBoundingClientRect().height === 0).map(name),
			Controls: all("button, input, select, nav, .skip, .keys").filter((e) => e.checkVisibility()).map(name),
			Wide: all("pre, pre > *, td, th, h4, li, p").filter((e) => e.getBoundingClientRect().right > innerWidth + 1 || e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display === "block").map(name),
			Ground: getComputedStyle(document.body).backgroundColor,
		};
	})()`, &state)
	if len(state.Closed)+len(state.Controls)+len(state.Wide) > 0 || state.Ground != "rgb(255, 255, 255)" {
		t.Errorf("on paper: %+v", state)
	}
	if shots := os.Getenv("ENTIRE_TEST_SHOTS"); shots != "" {
		var paper struct{ Data []byte }
		p.Call(t, "Page.printToPDF", map[string]any{"printBackground": false, "preferCSSPageSize": true}, &paper)
		mustBrowse(t, os.WriteFile(filepath.Join(shots, "print.pdf"), paper.Data, 0o644))
	}
}

// testLarge checks that a page of 1,000 checkpoints opens within a second.
func testLarge(t *testing.T, b *chromium) {
	const budget, typing, tries = 1000, 500, 5
	r := many(1000)
	for i := range r.Turns {
		r.Turns[i].Answer = strings.Repeat("A long answer of an agent that explains what it did. ", 40)
		for n := range r.Commits[i].Files {
			r.Commits[i].Files[n].Hunks = slices.Repeat(r.Commits[i].Files[n].Hunks, 12)
		}
	}
	file := pageOf(t, r)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	best, paint, cpu := 1e9, 1e9, 1e9
	p := b.Open(t, "file://"+file)
	p.Call(t, "Performance.enable", nil, nil)
	spent := func() float64 {
		var m struct {
			Metrics []struct {
				Name  string
				Value float64
			}
		}
		p.Call(t, "Performance.getMetrics", nil, &m)
		for _, one := range m.Metrics {
			if one.Name == "ThreadTime" {
				return one.Value * 1000 //nolint:mnd // milliseconds
			}
		}
		return 0
	}
	for range tries {
		before := spent()
		p.Go(t, "file://"+file)
		var times struct{ Load, Paint float64 }
		p.Eval(t, `new Promise((done) => setTimeout(() => done({
			Load: performance.getEntriesByType("navigation")[0].loadEventEnd,
			Paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
		}), 300))`, &times)
		now := spent()
		if now < before {
			before = 0 // a new process renders the page
		}
		best, paint, cpu = min(best, times.Load), min(paint, times.Paint), min(cpu, now-before)
	}
	// How long the page is busy with a letter of the search.
	var typed float64
	p.Eval(t, `new Promise((done) => {
		const form = document.querySelector(".filters");
		let worst = 0, n = 0;
		new PerformanceObserver((list) => { for (const e of list.getEntries()) worst = Math.max(worst, e.duration); }).observe({entryTypes: ["longtask"]});
		const type = () => {
			if (n === 4) return setTimeout(() => done(worst), 300);
			form.elements.q.value = "file3".slice(0, ++n);
			form.dispatchEvent(new Event("input"));
			setTimeout(type, 400);
		};
		type();
	})`, &typed)
	t.Logf("a letter of the search: %.0f ms at most", typed)
	if typed > typing {
		t.Errorf("a letter of the search takes %.0f ms", typed)
	}
	t.Logf("%d bytes: loaded after %.0f ms, first painted after %.0f ms, %.0f ms of CPU time of its thread, the best of %d", info.Size(), best, paint, cpu, tries)
	if min(best, cpu) > budget { // on a busy machine only the CPU time is reliable
		t.Errorf("loaded after %.0f ms, with %.0f ms of CPU time", best, cpu)
	}
}

// testLook takes screenshots, and checks that nothing is wider than the window, that no label of a plot
// is cut, and that the accessibility check has no findings.
func testLook(t *testing.T, b *chromium, name, file string) {
	p := b.Open(t, "file://"+file)
	shots := os.Getenv("ENTIRE_TEST_SHOTS")
	const narrowest = 320
	for _, width := range []int{1280, 390, narrowest} {
		p.Size(t, width, 1400)
		for _, scheme := range []string{"light", "dark"} {
			p.Media(t, "screen", scheme)
			p.Eval(t, `(() => {
				for (const d of document.querySelectorAll("details")) d.open = d.matches(".fold:has(table.shares)") && !d.closest("#shares > .fold + .fold");
				const some = document.querySelectorAll(".entry");
				for (const e of Array.from(some).slice(0, 10)) { e.open = true; const f = e.querySelector(".file"); if (f) f.open = true; }
			})()`, nil)
			var wide int
			if p.Eval(t, "document.documentElement.scrollWidth", &wide); wide > width {
				t.Errorf("%d pixels: the page has %d", width, wide)
			}
			var cut []string
			p.Eval(t, `Array.from(document.querySelectorAll(".plot text")).filter((e) => {
				const r = e.getBoundingClientRect(), plot = e.closest("svg").getBoundingClientRect();
				return r.left < plot.left - 1 || r.right > plot.right + 1 || r.top < plot.top - 1 || r.bottom > plot.bottom + 1;
			}).map((e) => e.textContent)`, &cut)
			if len(cut) > 0 {
				t.Errorf("%d pixels: labels are cut: %q", width, cut)
			}
			if width == narrowest {
				continue
			}
			checkAccessible(t, p, fmt.Sprintf("%d pixels, %s", width, scheme))
			for _, part := range []string{"overview", "shares", "timeline"} {
				if shots != "" {
					p.Eval(t, fmt.Sprintf(`document.getElementById(%q).scrollIntoView(); new Promise((r) => setTimeout(r, 200))`, part), nil)
					p.Screenshot(t, filepath.Join(shots, fmt.Sprintf("%s-%s-%s-%d.png", name, part, scheme, width)))
				}
			}
		}
	}
	if problems := p.Problems(t); len(problems) > 0 {
		t.Error(problems)
	}
}

// checkAccessible runs axe-core on the current page.
func checkAccessible(t *testing.T, p *browserPage, where string) {
	t.Helper()
	axe := os.Getenv("ENTIRE_TEST_AXE")
	if axe == "" {
		t.Log("no axe-core: not checked")
		return
	}
	source, err := os.ReadFile(axe)
	if err != nil {
		t.Fatal(err)
	}
	var loaded bool
	if p.Eval(t, `typeof axe !== "undefined"`, &loaded); !loaded {
		p.Eval(t, string(source)+";0", nil)
	}
	var found []struct {
		ID, Impact, Help string
		Nodes            []struct {
			HTML           string
			FailureSummary string
		}
	}
	p.Eval(t, `axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations)`, &found)
	for _, f := range found {
		text, err := json.Marshal(f.Nodes[:min(len(f.Nodes), 3)])
		if err != nil {
			t.Fatal(err)
		}
		t.Errorf("%s: %s (%s): %s, %d times: %s", where, f.ID, f.Impact, f.Help, len(f.Nodes), text)
	}
}
