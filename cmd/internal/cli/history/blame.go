package history

import (
	"context"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/blame"
)

type blameOptions struct {
	outputFlags

	ranges    []string
	porcelain bool
}

// NewBlame returns the command that shows who wrote the lines of a file.
func NewBlame(a *app.App) *cobra.Command {
	var opts blameOptions
	cmd := &cobra.Command{
		Use:        "blame [<rev>] <file>",
		SuggestFor: []string{"annotate", "praise", "authors"},
		Short:      "Show who wrote each line of a file, and why",
		Long: `Shows each line of a file with its commit, its author, and the prompt that led to it.
Consecutive lines with the same author and commit are grouped. The commit is found as
by git blame -M -C -w, through renames, moved and copied blocks and new indentation;
the author is taken from the commit's checkpoint, also after an amend, rebase, squash
or cherry-pick. Uncommitted lines are shown, too.

A "~" before the prompt means that the author is derived: from the text of an edit, or
from the content of a squashed commit that names no checkpoint. A line is attributed
to a person only if the records show that no session wrote it. For lines that are
"not recorded", the reasons are below the table.

EXIT STATUS
  0  shown
  1  failure, or no such file or revision
  2  wrong usage`,
		Example: `  entire blame src/auth.go
  entire blame src/auth.go:40-60
  entire blame HEAD~5 src/auth.go
  entire blame --json src/auth.go`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			rev := ""
			if len(args) > 1 {
				rev = args[0]
				if rev == "" || strings.HasPrefix(rev, "-") {
					return app.Usagef("%q is not a revision", rev)
				}
			}
			return read(a, func(r *reading) error {
				name := args[len(args)-1]
				path, err := r.path(name)
				if place, ok := splitPlace(name); ok && place.from > 0 && (err != nil || !r.isFile(path)) { // src/auth.go:40-60
					opts.ranges = append(opts.ranges, fmt.Sprintf("%d,%d", place.from, place.to))
					path, err = r.path(place.path)
				}
				if err != nil {
					return err
				}
				rev = r.rev(rev)
				f, err := r.reader.File(cmd.Context(), git.BlameRequest{Rev: rev, Path: path, Ranges: opts.ranges})
				switch {
				case err != nil:
					return r.explained(err, rev, path)
				case opts.json:
					return r.Streams.JSONOf(newBlameJSON(&f, r.missing(cmd.Context(), &f)), "lines")
				case opts.porcelain:
					return r.Streams.Show(func(w io.Writer) error {
						_, err := io.WriteString(w, porcelain(&f))
						return err
					})
				}
				opts.show(a, r.table(cmd.Context(), &f))
				return nil
			})
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&opts.ranges, "lines", "L", nil, "only these lines, as for git: 40,60 or 40,+20 or :function; may be repeated")
	f.BoolVar(&opts.porcelain, "porcelain", false, "print a format for scripts, like git's")
	opts.addListOutput(a, f)
	cmd.MarkFlagsMutuallyExclusive("json", "porcelain")
	cmd.ValidArgsFunction = setup.ArgumentOrFile(a, 0, setup.Branches)
	return cmd
}

const (
	// widths of the columns before a line's text, in characters.
	whoseWidth, aboutWidth = 28, 34
	leastAbout             = 12
	// halfScreen divides a terminal's width: the text gets at least that part.
	halfScreen = 2
)

// table returns the lines of the file, group by group.
func (r *reading) table(ctx context.Context, f *blame.File) string {
	who, why := 0, 0
	for _, l := range f.Lines {
		who = max(who, min(ui.Width(whose(l.Author)), whoseWidth))
		why = max(why, min(ui.Width(about(f, l.Author)), aboutWidth))
	}
	if r.Streams.Terminal.Out {
		width, _ := r.Streams.Size()
		why = max(leastAbout, min(why, width/halfScreen-who-len("a1b2c3d    1234 ")))
	}
	number := 1
	if n := len(f.Lines); n > 0 {
		number = len(strconv.Itoa(f.Lines[n-1].Number))
	}
	// Each session and each person has a style, in the order in which they appear.
	palette := []ui.Style{ui.Green, ui.Yellow, ui.Cyan, ui.Magenta, ui.Blue}
	styles := map[string]ui.Style{}
	var b strings.Builder
	var before [3]string
	last := 0
	for i, l := range f.Lines {
		if i > 0 && last+1 != l.Number {
			b.WriteString("...\n")
		}
		group := [...]string{commitName(l.Commit), whose(l.Author), ui.Line(about(f, l.Author), why)}
		oid, name, text := group[0], group[1], group[2]
		if group == before && l.Number == last+1 {
			oid, name, text = "", "", ""
		}
		before, last = group, l.Number
		style := ui.Dim
		if a := l.Author; a.Kind != blame.Unknown {
			key := string(a.Kind) + a.Session + a.Name
			if _, known := styles[key]; !known {
				styles[key] = palette[len(styles)%len(palette)]
			}
			style = styles[key]
		}
		fmt.Fprintf(&b, "%s %s  %s %s  %s\n",
			r.Streams.Paint(ui.Dim, pad(oid, len("a1b2c3d"))), r.Streams.Paint(style, pad(ui.Line(name, who), who)),
			pad(text, why), r.Streams.Paint(ui.Dim, fmt.Sprintf("%*d", number, l.Number)), ui.Escape(l.Text))
	}
	if len(f.Lines) == 0 {
		return "The file is empty.\n"
	}
	for _, gap := range r.missing(ctx, f) {
		fmt.Fprintf(&b, "\n%s.\n  hint: %s\n", format.Capitalize(gap.What), gap.Hint)
	}
	b.WriteString(unrecorded(f))
	return b.String()
}

// unrecorded describes why the authors of lines are not recorded, without those for which the clone
// lacks something.
func unrecorded(f *blame.File) string {
	lines := map[blame.Basis]int{}
	var order []blame.Basis
	for _, l := range f.Lines {
		basis := l.Author.Basis
		if l.Author.Kind != blame.Unknown || basis == blame.Cut || basis == blame.NoRecord || basis.Text() == "" {
			continue
		}
		if lines[basis]++; lines[basis] == 1 {
			order = append(order, basis)
		}
	}
	var b strings.Builder
	for _, basis := range order {
		fmt.Fprintf(&b, "\nNot recorded, %s: %s.\n", ui.Plural(lines[basis], "line"), basis.Text())
		if hint := basisHint(basis, "RANGE"); hint != "" {
			fmt.Fprintf(&b, "  hint: %s\n", hint)
		}
	}
	return b.String()
}

// missing returns what the clone lacks to determine the authors of lines that are not recorded.
func (r *reading) missing(ctx context.Context, f *blame.File) (list []format.GapJSON) {
	cut := false                  // whether lines may be older than their commits
	lacking := map[git.OID]bool{} // whether the record of a commit with such lines is not here
	for _, l := range f.Lines {
		if _, known := lacking[l.Commit]; l.Author.Kind == blame.Unknown && !known {
			cut = cut || r.reader.IsCut(l.Commit)
			lacking[l.Commit] = r.reader.LacksRecord(ctx, f.Commits[l.Commit])
		}
	}
	if cut {
		list = append(list, format.GapJSON{Part: format.HistoryPart, What: "lines that are not recorded may be older than their commit: this clone is shallow", Hint: format.DeepenHint})
	}
	maps.DeleteFunc(lacking, func(_ git.OID, lacks bool) bool { return !lacks })
	if n := len(lacking); n > 0 {
		what := "the checkpoints of " + ui.Plural(n, "commit") + " with lines that are not recorded are not in this clone"
		list = append(list, format.GapJSON{Part: format.CheckpointsPart, What: what, Hint: "`entire fetch` fetches them, if the remote has them"})
	}
	return list
}

// pad fills text with spaces up to a width in columns.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-ui.Width(text)))
}

// porcelain returns the file in the format of git blame --porcelain, with the author in headers:
// docs/formats/blame.md.
func porcelain(f *blame.File) string {
	var b strings.Builder
	none := strings.Repeat("0", git.SHA1.HexLen()) // for a line that isn't committed
	for oid := range f.Commits {
		none = strings.Repeat("0", len(oid))
		break
	}
	named := map[*blame.Author]bool{}
	header := func(key, value string) {
		if value != "" {
			b.WriteString(key + " " + ui.Line(value, maxHeader) + "\n")
		}
	}
	for i, l := range f.Lines {
		oid := string(l.Commit)
		if oid == "" {
			oid = none
		}
		fmt.Fprintf(&b, "%s %d %d", oid, l.Orig, l.Number)
		if i == 0 || f.Lines[i-1].Author != l.Author || f.Lines[i-1].Path != l.Path {
			n := 1
			for i+n < len(f.Lines) && f.Lines[i+n].Author == l.Author && f.Lines[i+n].Path == l.Path {
				n++
			}
			fmt.Fprintf(&b, " %d", n)
		}
		b.WriteString("\n")
		if a := l.Author; !named[a] {
			named[a] = true
			header("kind", string(a.Kind))
			header("author", whose(a))
			header("reason", a.Basis.Text())
			header("session", a.Session)
			header("checkpoint", string(a.Checkpoint))
			header("turn", a.Turn.ID)
			header("prompt", a.Turn.Title)
			header("call", a.Call)
			header("subagent", a.Subagent)
			if a.Derived {
				b.WriteString("derived\n")
			}
			if a.Imported {
				b.WriteString(imported + "\n")
			}
			if a.Commit != "" {
				header("summary", strings.SplitN(f.Commits[a.Commit].Message, "\n", 2)[0]) //nolint:mnd // the first line
			}
			header("filename", l.Path)
		}
		b.WriteString("\t" + l.Text + "\n")
	}
	return b.String()
}

// maxHeader is the maximum width of a header's value.
const maxHeader = 500
