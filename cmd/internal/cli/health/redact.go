package health

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/redact"
)

// NewRedact returns the command that has the commands about the redaction of secrets.
func NewRedact(a *app.App) *cobra.Command {
	stored := &redactStored{App: a}
	cmd := &cobra.Command{
		Use:   "redact",
		Short: "Show or mask secrets in what is recorded",
		Long: `Shows what is replaced by REDACTED before a conversation is stored.

--scan lists what the current rules would replace in stored checkpoints, which may
have been written under older rules or by another program: the checkpoint, file,
line, rule and length, never the value. --apply replaces it in all checkpoints, on
shadow branches, in saved contexts, states and logs, as ` + "`entire forget --text`" + ` does: it lists
every place and asks first, and the branch gets a new history. An interrupted run is
completed by the next one. Snapshots and your own files are not changed. Values
shorter than 8 bytes, ordinary words and ids are left as they are. ` + "`entire forget --push`" + ` then replaces the remote's checkpoints.

EXIT STATUS
  0    nothing to replace, or all replaced
  1    something to replace, or failure
  2    wrong usage
  130  interrupted`,
		Example: `  entire redact --scan
  entire redact --apply
  git diff | entire redact check -`,
		Args:        cobra.NoArgs,
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case stored.scan || stored.apply:
				return stored.run(cmd.Context())
			case stored.json || stored.force:
				return app.Usagef("--json and --force need --scan or --apply")
			}
			return cmd.Help()
		},
	}
	f := cmd.Flags()
	f.BoolVar(&stored.scan, "scan", false, "list what the current rules would replace in stored checkpoints")
	f.BoolVar(&stored.apply, "apply", false, "replace it")
	f.BoolVarP(&stored.force, "force", "f", false, "don't ask")
	setup.JSONFlags(a, f, &stored.json)
	cmd.MarkFlagsMutuallyExclusive("scan", "apply")
	cmd.AddCommand(newRedactCheckCmd(a))
	return cmd
}

func newRedactCheckCmd(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check FILE|-",
		Short: "Show which parts of a file would be replaced",
		Long: `Shows which parts of a file, or of standard input, would be replaced before they are
stored: the rule, line, column and length in bytes, never the value. A file that
starts with { is read as a transcript, line by line. In a repository, the values in
its secret files (.env, private keys, .netrc and the like) are found, too.

EXIT STATUS
  0  nothing to replace
  1  something to replace, or failure
  2  wrong usage`,
		Example: `  entire redact check ~/.claude/projects/x/session.jsonl
  git diff | entire redact check -`,
		Args:        cobra.ExactArgs(1),
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, name := cmd.Context(), args[0]
			in, total := a.Input(ctx), int64(0)
			if name != "-" {
				path := name
				if !filepath.IsAbs(path) {
					path = filepath.Join(a.Dir, path)
				}
				f, err := os.Open(path)
				if err != nil {
					return err
				}
				defer f.Close() //nolint:errcheck // only read
				if info, err := f.Stat(); err == nil {
					total = info.Size()
				}
				in = f
			}
			r := redact.New()
			if repo, err := a.Repository(); err == nil {
				defer repo.Close() //nolint:errcheck // only read
				r.WithFilesOf(repo.Root)
			}
			findings := []redactFinding{}
			err := a.Streams.Sized("Checking", func(reach func(string, ui.Amount)) (err error) {
				findings, err = checkAll(ctx, r, in, func(done int64) { reach("", ui.Amount{Bytes: done, Size: total}) })
				return err
			})
			if err != nil {
				return fmt.Errorf("check %s: %w", name, err)
			}
			if asJSON {
				err = a.Streams.JSONOf(redactCheckJSON{findings}, "findings")
			} else {
				for _, f := range findings {
					a.Streams.Printf("%d:%d: %s, %d bytes\n", f.Line, f.Column, f.Rule, f.Length)
				}
			}
			if err == nil && len(findings) > 0 {
				return app.ErrFailed
			}
			return err
		},
	}
	setup.JSONFlags(a, cmd.Flags(), &asJSON)
	return cmd
}

// redactCheckJSON is the output of `redact check --json`; docs/formats/forget.md describes it.
type redactCheckJSON struct {
	Findings []redactFinding `json:"findings"`
}

// redactFinding is the place of a text that would be replaced.
type redactFinding struct {
	Rule   string `json:"rule"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Length int    `json:"length"`
}

// maxCheckedText is the maximum length of a line, or of a text that isn't lines of JSON, that is
// checked.
const maxCheckedText = 256 << 20

// readLine reads a line with its line ending. The last line may lack one; then the error is io.EOF.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := in.ReadSlice('\n')
		if line = append(line, piece...); !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxCheckedText {
			return nil, fmt.Errorf("a line of more than %s is not checked", format.Size(maxCheckedText))
		}
	}
}

// checkAll lists the parts of a transcript or text that would be replaced.
func checkAll(ctx context.Context, r *redact.Redactor, in io.Reader, tick func(done int64)) ([]redactFinding, error) {
	buffered := bufio.NewReaderSize(in, 1<<16)
	findings := []redactFinding{}
	if first, err := buffered.Peek(1); err != nil || first[0] != '{' {
		text, err := io.ReadAll(io.LimitReader(buffered, maxCheckedText+1))
		if err != nil {
			return nil, err
		}
		if len(text) > maxCheckedText {
			return nil, fmt.Errorf("a text of more than %s is not checked", format.Size(maxCheckedText))
		}
		line, begin, at := 1, 0, 0
		hits, err := r.CheckTextContext(ctx, string(text))
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			between := text[at:h.Start]
			if n := bytes.LastIndexByte(between, '\n'); n >= 0 {
				line, begin = line+bytes.Count(between, []byte("\n")), at+n+1
			}
			at = h.Start
			findings = append(findings, redactFinding{h.Rule, line, h.Start - begin + 1, h.End - h.Start})
		}
		return findings, nil
	}
	done := int64(0)
	for number := 1; ; number++ {
		line, err := readLine(buffered)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		hits, failed := r.CheckLineContext(ctx, bytes.TrimRight(line, "\r\n"))
		if failed != nil {
			return nil, failed
		}
		for _, h := range hits {
			findings = append(findings, redactFinding{h.Rule, number, h.Start + 1, h.End - h.Start})
		}
		done += int64(len(line))
		tick(done)
		if err != nil {
			return findings, nil //nolint:nilerr // the end of the file
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}
