package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// WriteManPages writes a manual page of section 1 for each command of entire and agentfs into an
// existing folder, named like git's own pages (entire-fs-restore.1). date is the date of the pages,
// as YYYY-MM-DD. The text is that of the help. Only `make man` calls it, no program of the user.
func WriteManPages(env app.Env, date, dir string) error {
	a := newApp(env)
	var write func(cmd *cobra.Command) error
	write = func(cmd *cobra.Command) error {
		if cmd.Name() == "help" {
			return nil
		}
		if err := disk.WriteDurable(filepath.Join(dir, manName(cmd)+".1"), []byte(manPage(cmd, env.Version, date)), 0o644); err != nil {
			return err
		}
		for _, below := range cmd.Commands() {
			if err := write(below); err != nil {
				return err
			}
		}
		return nil
	}
	for _, root := range []*cobra.Command{newRootCmd(a, commands()), newAgentFSCmd(a)} {
		if err := write(root); err != nil {
			return fmt.Errorf("write manual pages: %w", err)
		}
	}
	return nil
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage returns the page of a command, in the man macros of groff(7). Text is not filled: it
// keeps the layout of the help.
func manPage(cmd *cobra.Command, version, date string) string {
	var b strings.Builder
	name := manName(cmd)
	fmt.Fprintf(&b, ".TH %s 1 %s %s \"Entire\"\n.nh\n", roffWord(strings.ToUpper(name)), date, roffWord("entire "+version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	section := func(title, text string) {
		if text = strings.Trim(text, "\n"); text != "" {
			fmt.Fprintf(&b, ".SH %s\n.nf\n%s\n.fi\n", title, roff(text))
		}
	}
	section("SYNOPSIS", cmd.UseLine())
	section("EXAMPLES", cmd.Example)
	text, status, _ := strings.Cut(cmd.Long, "\n\nEXIT STATUS\n")
	section("DESCRIPTION", text)
	section("OPTIONS", cmd.LocalFlags().FlagUsages())
	section("OPTIONS OF THE COMMANDS ABOVE", cmd.InheritedFlags().FlagUsages())
	section("EXIT STATUS", status)
	var others []string
	if cmd.HasParent() {
		others = append(others, manName(cmd.Parent())+"(1)")
	}
	for _, below := range cmd.Commands() {
		if !below.Hidden && below.Name() != "help" {
			others = append(others, manName(below)+"(1)")
		}
	}
	section("SEE ALSO", strings.Join(others, ",\n"))
	return b.String()
}

// roff escapes text: backslashes, hyphens, which would become dashes, and characters that begin a
// request at the beginning of a line.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// roffWord quotes text as one argument of a request.
func roffWord(text string) string { return `"` + strings.ReplaceAll(roff(text), `"`, `\(dq`) + `"` }
