package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// shell is a shell for which completion exists.
type shell struct {
	name  string
	write func(root *cobra.Command, w io.Writer) error
	// file returns the path where the shell looks for the script of a program, in the user's data
	// or configuration folder.
	file func(data, config, program string) string
	// next is an instruction to the user, empty if nothing is left to do. %s is the folder of the
	// file, or the file itself for shells that take a file.
	next string
}

func shells() []shell {
	return []shell{
		{
			"bash", func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
			func(data, _, program string) string {
				return filepath.Join(data, "bash-completion", "completions", program)
			},
			"",
		},
		{
			"zsh", (*cobra.Command).GenZshCompletion,
			func(data, _, program string) string { return filepath.Join(data, "zsh", "site-functions", "_"+program) },
			"add `fpath=(%s $fpath)` to ~/.zshrc, before `compinit`",
		},
		{
			"fish", func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
			func(_, config, program string) string {
				return filepath.Join(config, "fish", "completions", program+".fish")
			},
			"",
		},
		{
			"powershell", (*cobra.Command).GenPowerShellCompletionWithDesc,
			func(_, config, program string) string { return filepath.Join(config, "powershell", program+".ps1") },
			"add `. %s` to the file in $PROFILE",
		},
	}
}

// newCompletionCmd replaces cobra's command: it also installs the script.
func newCompletionCmd(a *app.App) *cobra.Command {
	names := make([]string, 0, len(shells()))
	for _, s := range shells() {
		names = append(names, s.name)
	}
	synopsis := "<" + strings.Join(names, " | ") + ">"
	cmd := &cobra.Command{
		Use:   "completion " + synopsis,
		Short: "Print or install shell completion",
		Long: `Prints the script for completion of commands, flags and values, such as versions of
snapshots and ids of sessions, in a shell. ` + "`completion install`" + ` installs it where
the shell finds it.

EXIT STATUS
  0  printed
  1  failure
  2  wrong usage`,
		Example:     "  entire completion install\n  entire completion zsh > _entire",
		Args:        cobra.ExactArgs(1),
		ValidArgs:   names,
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := shellNamed(args[0])
			if err != nil {
				return err
			}
			return s.write(cmd.Root(), a.Streams.Out)
		},
	}
	cmd.AddCommand(newCompletionInstallCmd(a, names), newCompletionUninstallCmd(a, names))
	return cmd
}

func newCompletionInstallCmd(a *app.App, names []string) *cobra.Command {
	return &cobra.Command{
		Use:   "install [" + strings.Join(names, " | ") + "]",
		Short: "Install the completion script",
		Long: `Writes the script to your folder of completions for a shell, by default the one in
$SHELL. Your own files are not edited: what is left to do is printed.

EXIT STATUS
  0  written
  1  failure
  2  wrong usage`,
		Example:     "  entire completion install\n  entire completion install fish",
		Args:        cobra.MaximumNArgs(1),
		ValidArgs:   names,
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && a.Getenv("SHELL") == "" {
				return app.WithHint(app.Usagef("$SHELL is not set"), "type "+cmd.CommandPath()+" <"+strings.Join(names, " | ")+">")
			}
			s, err := shellNamed(append(args, filepath.Base(a.Getenv("SHELL")))[0])
			if err != nil {
				return err
			}
			if a.Home == "" {
				return errors.New("no home directory to write to")
			}
			path := s.path(a, cmd.Root().Name())
			var script bytes.Buffer
			if err := s.write(cmd.Root(), &script); err != nil {
				return err
			}
			if err := disk.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return fmt.Errorf("install completion: %w", err)
			}
			if err := disk.WriteDurable(path, script.Bytes(), 0o644); err != nil {
				return fmt.Errorf("install completion: %w", err)
			}
			a.Streams.Printf("Wrote %s\n", format.Path(path))
			if s.next != "" {
				where := path
				if s.name == "zsh" {
					where = filepath.Dir(path)
				}
				a.Streams.Hint(fmt.Sprintf(s.next, format.Path(where)))
			}
			a.Streams.Printf("Start a new shell to use it.\n")
			return nil
		},
	}
}

func newCompletionUninstallCmd(a *app.App, names []string) *cobra.Command {
	return &cobra.Command{
		Use:   "uninstall [" + strings.Join(names, " | ") + "]",
		Short: "Remove the completion script",
		Long: `Removes the scripts that ` + "`completion install`" + ` wrote, for all shells unless one is
given. Files of other programs are kept.

EXIT STATUS
  0  removed, or nothing to remove
  1  failure
  2  wrong usage`,
		Example:     "  entire completion uninstall\n  entire completion uninstall fish",
		Args:        cobra.MaximumNArgs(1),
		ValidArgs:   names,
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			which := shells()
			if len(args) > 0 {
				s, err := shellNamed(args[0])
				if err != nil {
					return err
				}
				which = []shell{s}
			}
			if a.Home == "" {
				return errors.New("no home directory")
			}
			removed := 0
			for _, s := range which {
				path := s.path(a, cmd.Root().Name())
				found, err := os.ReadFile(path)
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				var script bytes.Buffer
				if err := errors.Join(err, s.write(cmd.Root(), &script)); err != nil {
					return fmt.Errorf("uninstall completion: %w", err)
				}
				// The first line of a script is the same in all versions of the program.
				first, _, _ := bytes.Cut(script.Bytes(), []byte("\n"))
				if !bytes.HasPrefix(found, first) {
					a.Streams.Notef("kept %s: another program wrote it", format.Path(path))
					continue
				}
				if err := disk.Remove(path); err != nil {
					return fmt.Errorf("uninstall completion: %w", err)
				}
				a.Streams.Printf("Removed %s\n", format.Path(path))
				removed++
			}
			if removed == 0 {
				a.Streams.Printf("Nothing to remove.\n")
			}
			return nil
		},
	}
}

func shellNamed(name string) (shell, error) {
	var names []string
	for _, s := range shells() {
		if s.name == name {
			return s, nil
		}
		names = append(names, s.name)
	}
	return shell{}, app.Usagef("no completion for the shell %q (known: %s)", name, strings.Join(names, ", "))
}

// path returns the path where the shell looks for the script of a program.
func (s shell) path(a *app.App, program string) string {
	folder := func(variable, otherwise string) string {
		if dir := a.Getenv(variable); filepath.IsAbs(dir) {
			return dir
		}
		return filepath.Join(a.Home, filepath.FromSlash(otherwise))
	}
	return s.file(folder("XDG_DATA_HOME", ".local/share"), folder("XDG_CONFIG_HOME", ".config"), program)
}
