package history

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/query"
)

// overview returns the text above what is shown of a commit's checkpoints: the commit, who committed it,
// and a line for each checkpoint, if there are several, with the person in whose clone it was recorded. It is
// empty if the commit is that person's own and has a single checkpoint.
func (x explainText) overview(of query.OfCommit) string {
	rows := overviewRows(of)
	several := len(rows)+len(of.Missing) > 1
	if !several && !isOfAnother(of) {
		return ""
	}
	commit := of.Commit
	id := commit.OID.Short()
	who := nameOfSignature(commit.Committer)
	if author := nameOfSignature(commit.Author); author != who && author != "" {
		who += " for " + author
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", x.Streams.Paint(ui.Yellow, "Commit "+id), ui.Line(plain.FirstLine(commit.Message), format.SubjectWidth))
	fmt.Fprintf(&b, "Committed by %s %s\n", cmp.Or(who, "an unknown person"), ui.Ago(x.Now(), commit.Committer.When))
	if !several {
		return b.String() + "\n"
	}
	what := ui.Plural(len(rows)+len(of.Missing), "checkpoint")
	switch {
	case of.Imported:
		what += ", linked by an import after it was made"
	case of.Derived:
		what += ", derived from its content, as its message names none"
	}
	fmt.Fprintf(&b, "It has %s:\n\n", what)
	table := &ui.Table{Spare: []string{"FILES", "WHEN", "AGENT"}}
	table.AddRow("CHECKPOINT", "PERSON", "AGENT", "WHEN", "FILES", "PROMPT")
	for _, r := range rows {
		table.AddRow(r.id, cmp.Or(ui.Line(nameOfSignature(r.person), format.PersonWidth), "-"), cmp.Or(ui.Line(r.agent, format.PersonWidth), "-"),
			agoOf(x.Now(), r.when), strconv.Itoa(r.files), ui.Line(r.prompt, format.LineWidth))
	}
	for _, id := range of.Missing {
		table.AddRow(string(id), "-", "-", "-", "-", "not stored here")
	}
	b.WriteString(x.Streams.Table(table))
	if len(rows) > 0 {
		fmt.Fprintf(&b, "\n`entire show %s` shows one of them, `entire show %s --full` all.\n", rows[0].id, id)
	}
	return b.String()
}

// isOfAnother reports whether the only checkpoint of a commit was recorded in the clone of another person
// than the commit's author.
func isOfAnother(of query.OfCommit) bool {
	if len(of.Checkpoints) != 1 {
		return false
	}
	person := of.Checkpoints[0].Author
	return person.Email != "" && person.Email != of.Commit.Author.Email
}

// overviewRow is what the overview has of a checkpoint.
type overviewRow struct {
	id, agent, prompt string
	person            git.Signature
	when              time.Time
	files             int
}

func overviewRows(of query.OfCommit) []overviewRow {
	rows := make([]overviewRow, 0, len(of.Points)+len(of.Checkpoints))
	for _, p := range of.Points {
		rows = append(rows, overviewRow{id: p.ID, agent: p.Agent, prompt: p.Prompt, person: p.Author, when: p.Date, files: len(p.Files)})
	}
	for i := range of.Checkpoints {
		d := &of.Checkpoints[i]
		r := overviewRow{id: d.ID, person: d.Author, when: d.Created, files: len(d.Files)}
		if len(d.Sessions) > 0 {
			r.agent, r.prompt = d.Sessions[0].Agent, d.Sessions[0].Intent
		}
		rows = append(rows, r)
	}
	return rows
}

// nameOfSignature returns the name of a person, or else the address.
func nameOfSignature(s git.Signature) string {
	return ui.Line(cmp.Or(s.Name, s.Email), format.NameWidth)
}

// brought returns the list of the checkpoints that a merge brings in.
func (x explainText) brought(of query.OfCommit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Commit %s brings in %s:\n", of.Commit.OID.Short(), ui.Plural(len(of.Points), "checkpoint"))
	for _, p := range of.Points {
		x.writePoint(&b, p)
	}
	b.WriteString("\n`entire show ID` shows one of them.\n")
	return b.String()
}

// notStored returns a note on checkpoints that are not stored here.
func notStored(missing []checkpoint.ID) string {
	switch len(missing) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("\nCheckpoint: %s\n  hint: %s\n", missing[0], fetchHint)
	}
	return fmt.Sprintf("\nNot stored here: %s (%s).\n  hint: %s\n", ui.Plural(len(missing), "checkpoint"), namesOf(missing), fetchHint)
}
