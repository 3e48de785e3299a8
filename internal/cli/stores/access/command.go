package access

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/ui"
)

// Command is what the commands of stores share: `agentfs ...`, and the same as
// `entire fs ...`.
type Command struct {
	*app.App

	Program     string // as the user calls it
	Store       string
	JSON, Force bool
	OwnFirst    bool // a repository's own store comes before a .agentfs
	Quiet       bool // in a hook: only errors are worth a word
}

// ExitStatus ends the help of every command of stores.
const ExitStatus = `

EXIT STATUS
  0    done
  1    failure
  2    wrong usage, a question that nobody can answer, $HOME or / as a store
  3    no such store, or none selected
  4    no such version
  5    the store is closed, or its folder isn't there
  130  interrupted`

// Run is a command's function with its errors explained.
func (c *Command) Run(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return c.Explain(do(cmd.Context(), args))
	}
}

// ShellWord quotes text for a shell, if it needs quotes.
func ShellWord(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./"
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// NewTable is a table with wider gaps than ui's own; cut is [ui.Table.Cut].
func NewTable(cut string) *ui.Table { return &ui.Table{First: 3, Gap: 4, Cut: cut} } //nolint:mnd // as other versions print them

// PrintJSON prints v as JSON on one line, with < and > as they are.
func (c *Command) PrintJSON(v any) error {
	return c.Streams.JSONLine(v)
}

// PrintJSONList prints a list as PrintJSON does, each entry before the next is read.
func (c *Command) PrintJSONList(l ui.JSONList) error {
	return c.Streams.JSONListLine(l)
}

// Say prints a stage or an outcome; a program that reads JSON gets neither.
func (c *Command) Say(format string, args ...any) {
	if !c.JSON {
		c.Streams.Printf(format+"\n", args...)
	}
}

// YesNoWord is a truth in a table.
func YesNoWord(is bool) string {
	if is {
		return "Yes"
	}
	return "No"
}
