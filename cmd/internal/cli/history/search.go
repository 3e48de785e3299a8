package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
)

type search struct {
	turnQuery

	kinds []string
}

// NewSearch returns the command that searches the index of turns.
func NewSearch(a *app.App) *cobra.Command {
	s := &search{turnQuery: turnQuery{app: a}}
	cmd := &cobra.Command{
		Use:        "search <words>...",
		SuggestFor: []string{"grep", "find"},
		Short:      "Search prompts, answers, commands, output and paths",
		Long: `Finds the turns of all sessions that have all of the words in prompts, answers,
commands, the start or end of their output, or paths of changed files. Best matches come
first: words in the prompt count most, then newer turns.

  rate limit        both words
  "rate limiting"   the phrase; quote it for the shell, too
  rateLim*          words with this prefix
  rateLimit         also rate_limit, rate-limit and RateLimit

If a word isn't found, the most similar one is used and reported.

EXIT STATUS
  0  done, even if nothing was found
  1  failure
  2  wrong usage`,
		Example: `  entire search rate limit
  entire search '"connection reset"' --kind output --since 30d
  entire search migrate --file db/ --failed`,
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		Args:        cobra.MinimumNArgs(1),
		RunE:        func(cmd *cobra.Command, args []string) error { return s.run(cmd.Context(), strings.Join(args, " ")) },
	}
	const limit = 10
	s.addFlags(cmd)
	cmd.Flags().StringSliceVarP(&s.kinds, "kind", "k", nil, "search only: "+strings.Join(index.KindNames(), ", ")+"; may be repeated")
	addLimit(cmd, &s.limit, limit, "list at most this many turns")
	setup.Flag(cmd, "kind", cobra.FixedCompletions(index.KindNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// searchJSON is the output of `search --json`; docs/formats/ask.md describes it.
type searchJSON struct {
	Hits    []hitJSON         `json:"hits"`
	More    int               `json:"more"`
	Instead map[string]string `json:"instead"`
	Missing []format.GapJSON  `json:"missing,omitempty"`
}

type hitJSON struct {
	turnJSON

	Kind    string  `json:"kind"`
	Excerpt string  `json:"excerpt"`
	Found   []piece `json:"found"`
	Score   float64 `json:"score"`
}

// piece is the range of bytes of a match in an excerpt.
type piece [2]int

func (s *search) run(ctx context.Context, text string) error {
	var kinds []index.Kind
	for _, name := range s.kinds {
		kind := slices.Index(index.KindNames(), name)
		if kind < 0 {
			return app.Usagef("--kind %s: not one of %s", ui.Line(name, format.NameWidth), strings.Join(index.KindNames(), ", "))
		}
		kinds = append(kinds, index.Kind(kind))
	}
	var found index.Found
	var numbers map[int64]int
	err := s.ask(ctx, func(_ *git.Repo, r *index.Reader) (err error) {
		found, err = r.Search(ctx, index.Query{Text: text, Kinds: kinds, Filter: s.filter, Limit: s.limit, Now: s.app.Now()})
		if err != nil || s.json {
			return err
		}
		rows := make([]index.Row, len(found.Hits))
		for i := range found.Hits {
			rows[i] = found.Hits[i].Row
		}
		numbers, err = r.Numbers(ctx, rows)
		return err
	})
	if err != nil {
		return err
	}
	if s.json {
		j := searchJSON{Hits: []hitJSON{}, More: found.More, Instead: found.Instead, Missing: s.missing(ctx)}
		if j.Instead == nil {
			j.Instead = map[string]string{}
		}
		for i := range found.Hits {
			h := &found.Hits[i]
			hit := hitJSON{turnJSON: newTurnJSON(&h.Row), Kind: h.Kind.String(), Found: []piece{}, Score: h.Score}
			for _, p := range h.Excerpt {
				if p.Found {
					hit.Found = append(hit.Found, piece{len(hit.Excerpt), len(hit.Excerpt) + len(p.Text)})
				}
				hit.Excerpt += p.Text
			}
			j.Hits = append(j.Hits, hit)
		}
		return s.app.Streams.JSONOf(j, "hits")
	}
	for word, other := range found.Instead {
		s.app.Streams.Notef("No match for %s; searched for %s instead.", ui.Line(word, format.NameWidth), ui.Line(other, format.NameWidth))
	}
	if len(found.Hits) == 0 {
		return s.nothing(ctx, "No matches.")
	}
	var b strings.Builder
	ids := make([]string, len(found.Hits))
	for i := range found.Hits {
		ids[i] = found.Hits[i].Session
	}
	for i, session := range format.UniqueSessions(ids) {
		h, command := &found.Hits[i], ""
		if n := numbers[h.ID]; n > 0 && h.Context == "" {
			command = fmt.Sprintf("entire show %s:%d", session, n)
		}
		s.hit(&b, h, session, cmp.Or(command, commandOf(&h.Row)))
	}
	if found.More > 0 {
		fmt.Fprintf(&b, "%d more: use --limit.\n", found.More)
	}
	s.show(s.app, b.String())
	return s.noteMissing(ctx)
}

// hit prints a hit in three lines: the time and the prompt; the excerpt; the session, by its short id,
// the commit, and the command that shows the turn.
func (s *search) hit(b *strings.Builder, h *index.Hit, session, command string) {
	streams := s.app.Streams
	fmt.Fprintf(b, "%s  %s\n", streams.Paint(ui.Yellow, fmt.Sprintf("%-8s", agoOf(s.app.Now(), h.At))), streams.Paint(ui.Bold, ui.Line(h.Prompt, format.SubjectWidth)))
	if len(h.Excerpt) > 0 {
		fmt.Fprintf(b, "  %s: ", h.Kind)
		for _, p := range h.Excerpt {
			// Without control characters, but with a space at either end.
			text := ui.Line(p.Text, len(p.Text))
			if strings.HasPrefix(p.Text, " ") {
				text = " " + text
			}
			if strings.HasSuffix(p.Text, " ") && len(p.Text) > 1 {
				text += " "
			}
			if p.Found {
				text = streams.Paint(ui.Red, text)
			}
			b.WriteString(text)
		}
		b.WriteString("\n")
	}
	about := []string{"session " + session}
	if h.Agent != "" {
		about = append(about, ui.Line(h.Agent, format.NameWidth))
	}
	if h.Imported {
		about = append(about, imported)
	}
	if commit := commitOf(&h.Row); commit != "" {
		about = append(about, "commit "+commit)
	}
	b.WriteString("  " + streams.Paint(ui.Dim, strings.Join(append(about, command), "  ")) + "\n\n")
}
