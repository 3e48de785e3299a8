package tui_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/cmd/internal/ui/tui"
)

func TestQuestionsWithoutATerminal(t *testing.T) {
	t.Parallel()
	p := tui.NewPrompter(ui.Streams{In: strings.NewReader("y\n"), Err: io.Discard})
	_, err := p.Ask(t.Context(), ui.Question{Title: "Really?", Flag: "--force"})
	e, ok := errors.AsType[*ui.NoTerminalError](err)
	if !ok || e.Flag != "--force" || e.Error() != "can't ask without a terminal: Really? (pass --force)" {
		t.Error(err)
	}
}

func lines(in io.Reader, out io.Writer) *tui.Prompter {
	return tui.NewPrompter(ui.Streams{In: in, Err: out, Terminal: ui.Terminal{In: true, Err: true, Accessible: true, Plain: true}})
}

func TestQuestionsInLinesShareTheInput(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := lines(strings.NewReader("nonsense\n2\ny\n\n"), &out)
	got, err := p.Ask(t.Context(),
		ui.Question{Title: "Which?", Options: []ui.Option{{Label: "First", Value: "a"}, {Label: "Second", Value: "b"}}},
		ui.Question{Title: "Sure?"})
	if d := cmp.Diff([]string{"b", ui.Yes}, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if got, err = p.Ask(t.Context(), ui.Question{Title: "Sure?"}); err != nil || got[0] != ui.No {
		t.Error(got, err)
	}
	if _, err := p.Ask(t.Context(), ui.Question{Title: "More?"}); !errors.Is(err, ui.ErrAborted) {
		t.Errorf("at the end of input: %v", err)
	}
	for _, text := range []string{"Which?", "2. Second", "Sure?"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("%q isn't in %q", text, out.String())
		}
	}
}

func TestQuestionInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	t.Cleanup(func() { _ = w.Close() })
	cancel()
	if _, err := lines(r, io.Discard).Ask(ctx, ui.Question{Title: "Sure?"}); !errors.Is(err, ui.ErrAborted) {
		t.Error(err)
	}
}

func TestQuestionDependsOnPreviousAnswer(t *testing.T) {
	t.Parallel()
	fruit := ui.Question{Title: "Which?", Flag: "--x", Options: []ui.Option{{Label: "Apple", Value: "apple"}, {Label: "None", Value: ""}}}
	more := ui.Question{Title: "How?", Flag: "--y", Then: func(earlier []string) (string, []ui.Option) {
		if earlier[0] == "" {
			return "", nil
		}
		return "about " + earlier[0], []ui.Option{{Label: "Raw", Value: "raw"}, {Label: "Baked", Value: "baked"}}
	}}
	for name, c := range map[string]struct {
		typed string
		want  []string
	}{
		"asked":     {"1\n2\n", []string{"apple", "baked"}},
		"not asked": {"2\n", []string{"", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			got, err := lines(strings.NewReader(c.typed), &out).Ask(t.Context(), fruit, more)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Error(diff, err)
			}
			if strings.Contains(out.String(), "about apple") != (c.want[1] != "") {
				t.Errorf("said %q", out.String())
			}
		})
	}
}
