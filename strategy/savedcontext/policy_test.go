package savedcontext

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

func TestVerdict(t *testing.T) {
	t.Parallel()
	nothing := Verdict{}
	kept := Verdict{save: true, status: recall.Kept}
	asked := Verdict{save: true, status: recall.Pending, ask: true}
	on := func(cause recall.Cause, choice settings.Choice) Occasion {
		return Occasion{cause: cause, onClear: choice, verify: true, auto: true, asked: true, changed: true}
	}
	with := func(o Occasion, change func(*Occasion)) Occasion {
		change(&o)
		return o
	}
	same := func(o *Occasion) { o.changed = false }
	every := func(o *Occasion) { o.changed, o.verify = false, false }
	manual := func(o *Occasion) { o.auto = false }
	silent := func(o *Occasion) { o.asked = false }
	for name, c := range map[string]struct {
		on   Occasion
		want Verdict
	}{
		"a clear, asked about":                   {on(recall.Clear, settings.Prompt), asked},
		"a clear, always kept":                   {on(recall.Clear, settings.Always), kept},
		"a clear, never":                         {on(recall.Clear, settings.Never), nothing},
		"a clear of what is kept, verified":      {with(on(recall.Clear, settings.Prompt), same), nothing},
		"a clear of what is kept, always":        {with(on(recall.Clear, settings.Always), same), nothing},
		"every clear is asked about":             {with(on(recall.Clear, settings.Prompt), every), asked},
		"every clear is kept":                    {with(on(recall.Clear, settings.Always), every), kept},
		"a plan is never asked about":            {on(recall.Plan, settings.Prompt), kept},
		"a plan, always":                         {on(recall.Plan, settings.Always), kept},
		"a plan, never":                          {on(recall.Plan, settings.Never), nothing},
		"a plan after which nothing changed":     {with(on(recall.Plan, settings.Prompt), every), kept},
		"an exit is kept whatever clears do":     {on(recall.Exit, settings.Never), kept},
		"an exit of what is kept":                {with(on(recall.Exit, settings.Prompt), every), nothing},
		"a compaction":                           {on(recall.Compact, settings.Prompt), kept},
		"a compaction of what is kept":           {with(on(recall.Compact, settings.Prompt), same), nothing},
		"a threshold":                            {on(recall.Threshold, settings.Never), kept},
		"a lost session":                         {on(recall.Lost, settings.Prompt), kept},
		"a request":                              {on(recall.Requested, settings.Never), kept},
		"a request for what is kept":             {with(on(recall.Requested, settings.Never), same), kept},
		"a request where nothing is automatic":   {with(on(recall.Requested, settings.Never), manual), kept},
		"a clear where nothing is automatic":     {with(on(recall.Clear, settings.Always), manual), nothing},
		"an exit where nothing is automatic":     {with(on(recall.Exit, settings.Always), manual), nothing},
		"a clear where nothing was ever asked":   {with(on(recall.Clear, settings.Always), silent), nothing},
		"a request where nothing was ever asked": {with(on(recall.Requested, settings.Always), silent), kept},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, c.on.verdict(), cmp.AllowUnexported(Verdict{})); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChangesSinceFingerprint(t *testing.T) {
	t.Parallel()
	base := fingerprint{Head: "h", Prompts: 2, Files: map[string]fileFingerprint{"a": "aa+10", "b": "bb+0"}}
	for name, c := range map[string]struct {
		now          fingerprint
		old          *fingerprint
		files, added int
		differs      bool
	}{
		"nothing before":               {base, nil, 2, 10, true},
		"the same":                     {base, &base, 0, 0, false},
		"another prompt":               {fingerprint{Head: "h", Prompts: 3, Files: base.Files}, &base, 0, 0, true},
		"another commit":               {fingerprint{Head: "i", Prompts: 2, Files: base.Files}, &base, 0, 0, true},
		"a file has more":              {fingerprint{Head: "h", Prompts: 2, Files: map[string]fileFingerprint{"a": "cc+15", "b": "bb+0"}}, &base, 1, 5, true},
		"a file has less":              {fingerprint{Head: "h", Prompts: 2, Files: map[string]fileFingerprint{"a": "cc+5", "b": "bb+0"}}, &base, 1, 0, true},
		"a file is new":                {fingerprint{Head: "h", Prompts: 2, Files: map[string]fileFingerprint{"a": "aa+10", "b": "bb+0", "c": "dd+3"}}, &base, 1, 3, true},
		"a file is gone":               {fingerprint{Head: "h", Prompts: 2, Files: map[string]fileFingerprint{"a": "aa+10", "b": "+0"}}, &base, 1, 0, true},
		"only figures differ":          {fingerprint{Head: "h", Prompts: 2, Files: map[string]fileFingerprint{"a": "aa+11", "b": "bb+0"}}, &base, 0, 0, false},
		"a malformed file fingerprint": {fingerprint{Head: "h", Prompts: 2, Files: map[string]fileFingerprint{"a": "x", "b": "bb+0"}}, &base, 1, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, added := c.now.since(c.old)
			if files != c.files || added != c.added || c.now.differs(c.old) != c.differs {
				t.Errorf("%d files, %d lines, differs %v; want %d, %d, %v", files, added, c.now.differs(c.old), c.files, c.added, c.differs)
			}
		})
	}
}

func TestContextSize(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]int64{
		"claude-opus-5-5": 1_000_000, "claude-sonnet-5-5-20260801": 1_000_000, "claude-opus-4-6": 200_000,
		"claude-opus-4-6[1m]": 1_000_000, "claude-haiku-5-5": 200_000, "": 200_000,
	} {
		if got := windowOf(model, func(string) string { return "" }); got != want {
			t.Errorf("window of %q is %d, want %d", model, got, want)
		}
		if got := windowOf(model, func(string) string { return "1" }); got != 200_000 {
			t.Errorf("window of %q is %d where the large one is off", model, got)
		}
	}
}
