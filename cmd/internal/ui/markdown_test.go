package ui_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

func TestMarkdown(t *testing.T) {
	t.Parallel()
	colours := ui.Streams{Terminal: ui.Terminal{Out: true}}
	for name, test := range map[string]struct{ text, want string }{
		"heading":      {"## The **plan**\ntext", "\x1b[1mThe plan\x1b[0m\ntext"},
		"no heading":   {"#12 is open\n", "#12 is open\n"},
		"code":         {"run `make test` now", "run \x1b[36mmake test\x1b[0m now"},
		"two marks":    {"``a ` b``", "\x1b[36ma ` b\x1b[0m"},
		"strong":       {"**Done:** all", "\x1b[1mDone:\x1b[0m all"},
		"product":      {"2 ** 3 ** 4 and a * b", "2 ** 3 ** 4 and a * b"},
		"open":         {"a ` and ** stay", "a ` and ** stay"},
		"empty":        {"`` and ****", "`` and ****"},
		"block":        {"```go\na := **b\n```\n`x`", "\x1b[2m```go\x1b[0m\n\x1b[36ma := **b\x1b[0m\n\x1b[2m```\x1b[0m\n\x1b[36mx\x1b[0m"},
		"block, tilde": {"~~~\n```\n~~~\nx", "\x1b[2m~~~\x1b[0m\n\x1b[36m```\x1b[0m\n\x1b[2m~~~\x1b[0m\nx"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(test.want, colours.Markdown(test.text)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			for _, plain := range []ui.Streams{{}, {Terminal: ui.Terminal{Out: true, Plain: true}}} {
				if got := plain.Markdown(test.text); got != test.text {
					t.Errorf("without colours: %q", got)
				}
			}
		})
	}
}
