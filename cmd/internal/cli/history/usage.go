package history

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
)

type usage struct {
	turnQuery

	per string
}

// NewUsage returns the command that adds up tokens.
func NewUsage(a *app.App) *cobra.Command {
	u := &usage{turnQuery: turnQuery{app: a}}
	names := groupNames()
	cmd := &cobra.Command{
		Use:        "usage",
		SuggestFor: []string{"cost", "tokens", "price", "stats"},
		Short:      "Show token usage and cost",
		Long: `Adds up the tokens of all sessions by session, branch, commit, day, model, agent,
file, prompt or person: input, written to the cache, read from it, output. Those of subagents
are apart. Each message of a model counts once, in however many transcripts it is.

The tokens of a turn are divided evenly among its commits (--per commit), or among
the files that it changed (--per file). What has none is listed as (none).

Prices are those of a table of this program, with its date, or of
~/.config/entire/prices.json. A model without a price is named; its tokens cost
nothing here.

EXIT STATUS
  0  shown, even if there are none
  1  failure
  2  wrong usage`,
		Example: `  entire usage --since 7d --per day
  entire usage --per branch --by ann
  entire usage --branch feature --per prompt --limit 5`,
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		Args:        cobra.NoArgs,
		RunE:        func(cmd *cobra.Command, _ []string) error { return u.run(cmd.Context()) },
	}
	const limit = 30
	u.addFlags(cmd)
	cmd.Flags().StringVar(&u.per, "per", "", "add up by this `field`: "+strings.Join(names, ", ")+" (default session)")
	addLimit(cmd, &u.limit, limit, "list at most this many; the total includes all")
	setup.Flag(cmd, "per", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func groupNames() []string {
	names := make([]string, 0, len(index.Groups()))
	for _, g := range index.Groups() {
		names = append(names, string(g))
	}
	return names
}

// formerPerson is the former name of index.ByPerson.
const formerPerson = "author"

// field returns the field to add up by. --by with a field was the former name of --per.
func (u *usage) field() (index.Group, error) {
	isField := func(name string) bool {
		return name == formerPerson || slices.Contains(groupNames(), name)
	}
	switch {
	case u.per == "" && isField(u.person.by):
		u.per, u.person.by = u.person.by, ""
	case u.per == "":
		u.per = string(index.BySession)
	case !isField(u.per):
		err := app.Usagef("--per %s: not one of %s", ui.Line(u.per, format.NameWidth), strings.Join(groupNames(), ", "))
		if near := setup.Nearest(groupNames(), u.per); near != "" {
			return "", app.WithHint(err, "did you mean "+near+"?")
		}
		return "", err
	}
	if u.per == formerPerson {
		return index.ByPerson, nil
	}
	return index.Group(u.per), nil
}

// member is a member of a group, with its tokens and their cost.
type member struct {
	key, label string
	last       time.Time
	persons    []string
	own, sub   index.Tokens
	messages   int64
	cost       float64
	unpriced   int64 // tokens of models without a price
}

func (m *member) add(o *member) {
	m.persons = append(m.persons, o.persons...)
	slices.Sort(m.persons)
	m.persons = slices.Compact(m.persons)
	m.own, m.sub = m.own.Plus(o.own), m.sub.Plus(o.sub)
	m.messages, m.cost, m.unpriced = m.messages+o.messages, m.cost+o.cost, m.unpriced+o.unpriced
}

func (u *usage) run(ctx context.Context) error {
	field, err := u.field()
	if err != nil {
		return err
	}
	table, err := loadPrices(u.app)
	if err != nil {
		return err
	}
	var spent []index.Spent
	err = u.ask(ctx, func(_ *git.Repo, r *index.Reader) (err error) {
		spent, err = r.Usage(ctx, index.Grouping{By: field, Local: u.app.Now().Location(), Persons: u.json}, u.filter)
		return err
	})
	if err != nil {
		return err
	}
	members, total, unpriced := addUp(spent, &table)
	more := max(len(members)-u.limit, 0)
	members = members[:len(members)-more]
	if u.json {
		j := usageJSON{
			By: u.per, Members: []memberJSON{}, More: more, Total: newMemberJSON(&total),
			Prices: pricesJSON{table.Date, table.Currency}, Unpriced: unpriced, Missing: u.missing(ctx),
		}
		for _, m := range members {
			j.Members = append(j.Members, newMemberJSON(m))
		}
		return u.app.Streams.JSONOf(j, "members")
	}
	if len(members) == 0 {
		return u.nothing(ctx, "No tokens are recorded.")
	}
	u.print(&table, field, members, &total, unpriced, more)
	return u.noteMissing(ctx)
}

// addUp returns the members of the group with their sums, the total, and the tokens of
// models that have no price.
func addUp(spent []index.Spent, table *prices) (members []*member, total member, unpriced map[string]int64) {
	unpriced = map[string]int64{}
	at := map[string]*member{}
	for _, s := range spent {
		m := at[s.Key]
		if m == nil {
			m = &member{key: s.Key, label: s.Label, last: s.Last}
			at[s.Key] = m
			members = append(members, m)
		}
		one := member{messages: s.Messages, own: s.Tokens, persons: s.Persons}
		if s.Subagent {
			one.own, one.sub = index.Tokens{}, s.Tokens
		}
		if p, ok := table.of(s.Model); ok {
			one.cost = p.cost(s.Tokens)
		} else if s.Total() > 0 {
			one.unpriced = s.Total()
			unpriced[s.Model] += s.Total()
		}
		m.add(&one)
		total.add(&one)
	}
	return members, total, unpriced
}

func (u *usage) print(table *prices, field index.Group, members []*member, total *member, unpriced map[string]int64, more int) {
	t := &ui.Table{Spare: []string{"CACHE WRITE", "SUBAGENTS", "CACHE READ"}}
	t.AddRow("INPUT", "CACHE WRITE", "CACHE READ", "OUTPUT", "SUBAGENTS", "COST", strings.ToUpper(string(field)))
	row := func(m *member, name string) {
		// The cost of a member; with ">" if a model has no price.
		cost := strings.TrimSpace(fmt.Sprintf("%.2f %s", m.cost, ui.Line(table.Currency, 8))) //nolint:mnd // the name of a currency
		if m.cost == 0 && m.unpriced > 0 {
			cost = "?"
		} else if m.unpriced > 0 {
			cost = ">" + cost
		}
		t.AddRow(ui.Count(m.own.Input), ui.Count(m.own.CacheWrite), ui.Count(m.own.CacheRead), ui.Count(m.own.Output),
			ui.Count(m.sub.Total()), cost, name)
	}
	keys := make([]string, len(members))
	for i, m := range members {
		keys[i] = m.key
	}
	short := format.SessionNames(keys)
	for _, m := range members {
		row(m, memberName(m, field, short))
	}
	if more > 0 {
		t.AddRow("", "", "", "", "", "", fmt.Sprintf("%d more: use --limit", more))
	}
	row(total, "total")
	text := u.app.Streams.Table(t)
	models := make([]string, 0, len(unpriced))
	for model, tokens := range unpriced {
		models = append(models, fmt.Sprintf("%s (%s tokens)", nameOf(model), ui.Count(tokens)))
	}
	slices.Sort(models)
	if len(models) > 0 {
		text += "\nWithout a price: " + strings.Join(models, ", ") + "\n"
	}
	text += fmt.Sprintf("\nApproximate, with prices of %s: no discounts, no surcharges for long contexts.\n", ui.Line(table.Date, format.NameWidth))
	u.show(u.app, text)
}

// memberName returns the name of a member for the table; short returns the short id of a session.
func memberName(m *member, field index.Group, short func(id string) string) string {
	const digits = 7
	switch field {
	case index.BySession:
		return strings.TrimSpace(short(m.key) + "  " + ui.Line(m.label, format.NameWidth))
	case index.ByCommit:
		if m.key != "" {
			return m.key[:min(digits, len(m.key))] + "  " + ui.Line(m.label, format.SubjectWidth)
		}
	case index.ByPrompt:
		return ui.Line(m.label, format.SubjectWidth)
	case index.ByBranch, index.ByDay, index.ByModel, index.ByAgent, index.ByFile, index.ByPerson:
	}
	return nameOf(m.key)
}

func nameOf(key string) string {
	if key == "" {
		return "(none)"
	}
	return ui.Line(key, format.NameWidth)
}

// usageJSON is the output of `usage --json`; docs/formats/ask.md describes it.
type usageJSON struct {
	By       string           `json:"by"`
	Members  []memberJSON     `json:"members"`
	More     int              `json:"more"`
	Total    memberJSON       `json:"total"`
	Prices   pricesJSON       `json:"prices"`
	Unpriced map[string]int64 `json:"unpriced"`
	Missing  []format.GapJSON `json:"missing,omitempty"`
}

type memberJSON struct {
	Key       string     `json:"key"`
	Label     string     `json:"label,omitempty"`
	Authors   []string   `json:"authors"`
	Last      time.Time  `json:"last,omitzero"`
	Messages  int64      `json:"messages"`
	Tokens    tokensJSON `json:"tokens"`
	Subagents tokensJSON `json:"subagent_tokens"`
	Cost      float64    `json:"cost"`
	// Unpriced is the number of tokens that Cost doesn't include.
	Unpriced int64 `json:"unpriced_tokens"`
}

type pricesJSON struct {
	Date     string `json:"date"`
	Currency string `json:"currency"`
}

func newMemberJSON(m *member) memberJSON {
	return memberJSON{
		Key: m.key, Label: m.label, Authors: format.NotNil(m.persons), Last: utc(m.last), Messages: m.messages, Tokens: newTokensJSON(m.own), Subagents: newTokensJSON(m.sub),
		Cost: m.cost, Unpriced: m.unpriced,
	}
}
