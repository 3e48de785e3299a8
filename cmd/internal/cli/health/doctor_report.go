package health

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/strategy/doctor"
)

// doctorJSON is the output of `doctor --json`; docs/formats/doctor.md describes it.
type doctorJSON struct {
	OK       bool          `json:"ok"`
	Findings []findingJSON `json:"findings"`
	Repairs  []repairJSON  `json:"repairs"`
	Backups  []backupJSON  `json:"backups"`
}

type findingJSON struct {
	doctor.Finding

	Fixable bool `json:"fixable"`
}

type repairJSON struct {
	Code    string `json:"code"`
	Subject string `json:"subject,omitempty"`
	Fix     string `json:"fix"`
	Backup  string `json:"backup"`
	Error   string `json:"error,omitempty"`
}

type backupJSON struct {
	Name     string     `json:"name"`
	Code     string     `json:"code"`
	Subjects []string   `json:"subjects"`
	Created  time.Time  `json:"created_at"`
	Undone   *time.Time `json:"undone_at,omitempty"`
}

type undoneJSON struct {
	Undone backupJSON `json:"undone"`
}

func newBackupJSON(b *doctor.Backup) backupJSON {
	j := backupJSON{Name: b.Name, Code: b.Code, Subjects: format.NotNil(b.Subjects), Created: format.UTC(b.Created)}
	if b.Undone != nil {
		at := format.UTC(*b.Undone)
		j.Undone = &at
	}
	return j
}

// report prints the repairs and then the findings. It fails if a problem is left or a repair
// failed.
func (c *consulting) report(list []doctor.Finding, done []doctor.Outcome) error {
	problems, fixable := 0, 0
	for _, f := range list {
		if f.Problem() {
			problems++
			if f.Repair != nil {
				fixable++
			}
		}
	}
	if problems == 0 && slices.ContainsFunc(done, func(o doctor.Outcome) bool { return o.Err != nil }) {
		problems = 1 // a failed repair describes the problem itself
	}
	if c.opts.json {
		if err := c.printJSON(list, done, problems == 0); err != nil {
			return err
		}
	} else {
		c.PageText(func(w ui.Streams) {
			printOutcomes(w, done)
			printFindings(w, list)
			has := func(code string) bool {
				return slices.ContainsFunc(list, func(f doctor.Finding) bool { return f.Code == code })
			}
			if problems == 0 && has(codeNotSetUp) {
				return // its hint is what to do next
			}
			if !has(doctor.StuckSession) {
				w.Printf("No stuck sessions found.\n")
			}
			printTotal(w, list, problems, fixable)
		})
	}
	if problems > 0 {
		return app.ErrFailed
	}
	return nil
}

func (c *consulting) printJSON(list []doctor.Finding, done []doctor.Outcome, ok bool) error {
	j := doctorJSON{OK: ok, Findings: []findingJSON{}, Repairs: []repairJSON{}, Backups: []backupJSON{}}
	for _, f := range list {
		j.Findings = append(j.Findings, findingJSON{f, f.Repair != nil})
	}
	for _, o := range done {
		r := repairJSON{Code: o.Code, Subject: o.Subject, Fix: o.Fix, Backup: o.Backup}
		if o.Err != nil {
			r.Error = o.Err.Error()
		}
		j.Repairs = append(j.Repairs, r)
	}
	for _, b := range c.doctor.Backups() {
		j.Backups = append(j.Backups, newBackupJSON(&b))
	}
	return c.Streams.JSONOf(j, "findings")
}

// printTotal prints the number of problems, and what to do next.
func printTotal(w ui.Streams, list []doctor.Finding, problems, fixable int) {
	switch {
	case problems == 0 && slices.ContainsFunc(list, func(f doctor.Finding) bool { return f.Code == doctor.PartlyExamined }):
		w.Printf("No problems found in what was examined.\n")
	case problems == 0:
		w.Printf("No problems found.\n")
	case fixable == 0 && firstHint(list) != "":
		w.Printf("%s found.\nNext: %s\n", ui.Plural(problems, "problem"), firstHint(list))
	case fixable == 0:
		w.Printf("%s found.\nNext: `entire doctor --report FILE` writes a file for a bug report.\n", ui.Plural(problems, "problem"))
	default:
		w.Printf("%s found; `entire doctor --fix` repairs %d.\n", ui.Plural(problems, "problem"), fixable)
	}
}

// firstHint returns the hint of the first problem that has one.
func firstHint(list []doctor.Finding) string {
	for _, f := range list {
		if f.Problem() && f.Hint != "" {
			return ui.Line(f.Hint, format.LineWidth)
		}
	}
	return ""
}

func printOutcomes(w ui.Streams, done []doctor.Outcome) {
	last := ""
	for _, o := range done {
		if o.Err != nil {
			w.Printf("%s %s: not repaired: %s\n", w.Paint(ui.Red, "✕"), findingTitle(o.Finding), ui.Line(o.Err.Error(), format.LineWidth))
			continue
		}
		w.Printf("%s %s: %s\n", w.Paint(ui.Green, "✓"), findingTitle(o.Finding), o.Fix)
		if o.Backup != last {
			w.Printf("  undo: entire doctor --undo %s\n", o.Backup)
		}
		last = o.Backup
	}
	if len(done) > 0 {
		w.Printf("\n")
	}
}

func printFindings(w ui.Streams, list []doctor.Finding) {
	for _, f := range grouped(list) {
		mark := w.Paint(ui.Dim, "-")
		switch f.Severity {
		case doctor.Error:
			mark = w.Paint(ui.Red, "✕")
		case doctor.Warning:
			mark = w.Paint(ui.Yellow, "!")
		case doctor.Note:
		}
		text := f.What
		if f.Why != "" {
			text += "; " + f.Why
		}
		w.Printf("%s %s: %s\n", mark, findingTitle(f), ui.Line(text, format.LineWidth))
		if f.Fix != "" {
			w.Printf("  fix: %s\n", ui.Line(f.Fix, format.LineWidth))
		}
		if f.Hint != "" {
			w.Printf("  hint: %s\n", ui.Line(f.Hint, format.LineWidth))
		}
	}
	if len(list) > 0 {
		w.Printf("\n")
	}
}

// grouped joins findings that differ only in their subjects: the joined subject lists the first
// ones and the number of the others.
func grouped(list []doctor.Finding) []doctor.Finding {
	const most = 3
	type text struct{ code, what, why, fix, hint string }
	key := func(f doctor.Finding) text { return text{f.Code, f.What, f.Why, f.Fix, f.Hint} }
	subjects := map[text][]string{}
	for _, f := range list {
		subjects[key(f)] = append(subjects[key(f)], f.Subject)
	}
	var groups []doctor.Finding
	for _, f := range list {
		all, first := subjects[key(f)]
		if !first {
			continue
		}
		delete(subjects, key(f))
		if len(all) > 1 {
			f.Subject = strings.Join(all[:min(most, len(all))], ", ")
			if more := len(all) - most; more > 0 {
				f.Subject += " and " + strconv.Itoa(more) + " more"
			}
		}
		groups = append(groups, f)
	}
	return groups
}

// findingTitle returns the code and the subject of a finding on one line.
func findingTitle(f doctor.Finding) string {
	if f.Subject == "" {
		return f.Code
	}
	return f.Code + " " + ui.Line(f.Subject, format.LineWidth)
}
