package brief

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/linediff"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// The limits of files.
const (
	maxBlockCost = 500 * unit  // of one file's content or changes
	maxDriftCost = 1400 * unit // of one file's changes in a Drift
	maxLooked    = 1 << 20     // bytes read of all contents
	maxMentions  = 16 << 10    // bytes of texts searched for names
	maxViews     = 48          // files whose contents are read
	maxRemoved   = 6           // removed lines shown of each run
)

// view is a file of a checkpoint as shown in a brief.
type view struct {
	path    string
	state   string
	moved   bool // the file differs from the saved one
	tracked recall.Tracked
	// undone is set if the commit has the current file but none of the session's edits.
	undone  bool
	why     string
	request int
	weight  float64

	file recall.File
	// content is the text that may be shown, if known. before is the text that it is
	// compared with, and since describes that comparison.
	content, before string
	known           bool
	since           string
	altered         bool
}

// views returns the files of the material by descending weight.
func views(m Material) []view {
	list := ranked(m)
	looked := 0
	for i := range list {
		v := &list[i]
		if looked += len(v.content) + len(v.before); i < maxViews && looked <= maxLooked {
			// A brief must not contain invisible characters or the agent's own marks.
			var old bool
			v.content, v.altered = cleaned(v.content)
			v.before, old = cleaned(v.before)
			v.altered = v.altered || old
		} else {
			v.known = false
		}
	}
	return list
}

// ranked returns the files of the material by descending weight, with contents as saved.
// Files of equal weight are ordered by the session's last edit, latest first. Files without
// an edit follow, ordered by modification time, which is less reliable: a checkout or a
// formatter changes it, too.
func ranked(m Material) []view {
	paths := make([]string, 0, len(m.Checkpoint.State.Files))
	for name := range m.Checkpoint.State.Files {
		paths = append(paths, name)
	}
	list := m.Checkpoint.State.Context.FileNotes
	notes := make(map[string]recall.FileNote, len(list))
	edited := make(map[string]int, len(list)) // larger for those edited later
	for i, n := range list {
		notes[n.Path] = n
		edited[n.Path] = len(list) - i
	}
	slices.SortFunc(paths, func(a, b string) int {
		return cmp.Or(cmp.Compare(edited[b], edited[a]), lastChange(m, b).Compare(lastChange(m, a)), cmp.Compare(a, b))
	})
	analysis := m.Checkpoint.State.Analysis
	mentions := strings.Join(slices.Concat([]string{analysis.CurrentTask}, analysis.NextSteps, analysis.Blockers), "\n")
	mentions = mentions[:min(len(mentions), maxMentions)]
	views := make([]view, 0, len(paths))
	for rank, name := range paths {
		v := view{path: name, file: m.Checkpoint.State.Files[name], why: notes[name].Why, request: notes[name].Request}
		v.compare(m)
		v.tracked = cmp.Or(v.file.Tracked, notes[name].Tracked)
		if v.tracked == recall.Committed && notes[name].Tracked == "" && v.file.Added == 0 && v.file.Removed == 0 {
			v.undone = !v.moved
		}
		if v.moved || v.tracked == recall.Uncommitted && m.Subject != "" && m.Commit != m.Checkpoint.State.Context.GitCommit {
			v.tracked = "" // the later commit may have it
		}
		// The weight falls with time since the change, rises for mentioned files, and is
		// low for generated ones.
		v.weight = 1 / (1 + float64(rank)/6)
		if strings.Contains(mentions, path.Base(name)) {
			v.weight *= 1.6
		}
		if isMade(name) {
			v.weight /= 8
		}
		views = append(views, v)
	}
	slices.SortStableFunc(views, func(a, b view) int { return cmp.Compare(b.weight, a.weight) })
	return views
}

func lastChange(m Material, name string) time.Time {
	return m.Checkpoint.State.Files[name].LastModified
}

// isMade reports whether a file is probably generated.
func isMade(name string) bool {
	base := strings.ToLower(path.Base(name))
	if slices.Contains(strings.Fields("go.sum package-lock.json yarn.lock pnpm-lock.yaml cargo.lock poetry.lock uv.lock composer.lock gemfile.lock"), base) {
		return true
	}
	for end := range strings.FieldsSeq(".min.js .min.css .map .pb.go _pb2.py .snap .golden .svg .csv .lock") {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	return strings.Contains("/"+name, "/testdata/") || strings.Contains("/"+name, "/vendor/")
}

// compare sets the file's state and the contents that may be shown. Outdated contents are
// shown only if the state reports that.
func (v *view) compare(m Material) {
	now, checked := m.Present[v.path]
	// Whether the context has the file's content, even an empty one.
	saved := v.file.Omitted == "" && (v.file.Content != "" || v.file.Size == 0 && v.file.Hash != "")
	switch {
	case v.file.Change == recall.Deleted && (!checked || !now.Exists):
		v.state = "deleted by the session"
	case v.file.Change == recall.Deleted:
		v.state, v.moved = "deleted by the session, exists again", true
	case checked && !now.Exists:
		v.state, v.moved = "deleted since", true
	case checked && now.Hash == v.file.Hash && now.Hash != "":
		v.content, v.known = v.file.Content, saved
		if !saved && now.Content != "" {
			v.content, v.known = now.Content, true
		}
	case checked && now.Hash != "" && v.file.Hash != "":
		v.state, v.moved = "changed since", true
		v.content, v.known = now.Content, now.Content != ""
		if saved {
			v.before, v.since = v.file.Content, "changes since the checkpoint"
		}
	case saved:
		v.state, v.content, v.known = "as saved, not checked", v.file.Content, true
	default:
		v.state = "not checked"
	}
	// A file that has not changed since the save is compared with its content at the
	// session's start.
	if text, ok := m.Base[v.path]; ok && !v.moved {
		v.before, v.since = text, "changes of the session"
	}
	if o := v.file.Omitted; !slices.Contains([]recall.Omitted{"", recall.Gone, recall.NotWanted}, o) {
		v.state = strings.TrimPrefix(v.state+", "+shownLine(string(o), itemWidth), ", ")
	}
}

// title returns the file's name with its change and state.
func (v *view) title() string {
	var about []string
	change := shownLine(string(v.file.Change), itemWidth)
	if v.file.Added > 0 || v.file.Removed > 0 {
		change += fmt.Sprintf(" +%d -%d", v.file.Added, v.file.Removed)
	}
	if v.file.Change != recall.Deleted && change != "" {
		about = append(about, strings.TrimSpace(change))
	}
	if v.state != "" {
		about = append(about, v.state)
	}
	switch {
	case v.undone && v.file.Change == recall.Deleted:
	case v.undone:
		about = append(about, "no difference from HEAD")
	case v.tracked == recall.Committed:
		about = append(about, "committed")
	case v.tracked == recall.Uncommitted:
		about = append(about, "not committed")
	}
	if len(about) == 0 {
		return shownPath(v.path)
	}
	return shownPath(v.path) + " (" + strings.Join(about, ", ") + ")"
}

// fileLines returns the section of the files.
func fileLines(m Material, files []view) section {
	s := section{title: "**Files** (changed by the session)", more: "- … %d more files\n"}
	if slices.ContainsFunc(files, func(v view) bool { return v.file.Omitted == "" }) {
		s.title = fmt.Sprintf("**Files** (changed by the session; as they were saved: `entire recall show %s --file PATH`)", shownID(m))
	}
	s.title += ":\n"
	for i := range files {
		v := &files[i]
		line := "- " + v.title()
		switch why := shownLine(v.why, reasonWidth); {
		case why != "":
			line += ": " + why
		case v.request > 0:
			line += fmt.Sprintf(": for request %d", v.request)
		}
		s.lines = append(s.lines, line+"\n")
	}
	return s
}

// unnamedDocs returns the relevant documents that the session neither changed nor read.
func unnamedDocs(m Material) []string {
	c := m.Checkpoint.State
	var list []string
	for _, name := range c.Analysis.RelevantDocs[:min(len(c.Analysis.RelevantDocs), listWidth)] {
		if _, changed := c.Files[name]; !changed && !slices.Contains(c.Context.FilesRead, name) {
			list = append(list, name)
		}
	}
	return list
}

// heading returns the first line of a file's block; of names the part of the file in the
// block; empty means all.
func (v *view) heading(of string) string {
	line := "### " + v.title()
	if of != "" {
		line += ": " + of
	}
	if v.altered {
		line += "; some characters left out"
	}
	return line + "\n"
}

// whole returns the block of the file's content.
func (v *view) whole() string {
	of := ""
	if v.moved { // not the saved one
		of = "as it is now"
	}
	language := strings.TrimPrefix(strings.ToLower(path.Ext(v.path)), ".")
	if len(language) > 8 || strings.Trim(language, "abcdefghijklmnopqrstuvwxyz0123456789_$#-") != "" {
		language = ""
	}
	return v.heading(of) + fenced(language, v.content)
}

// changes returns a block with the hunks of the file's changes that fit into room, or "" if
// none fits.
func (v *view) changes(room int) string {
	if v.since == "" {
		return ""
	}
	var b strings.Builder
	all, shown := 0, 0
	for h := range linediff.Hunks(v.before, v.content, linediff.Compare(v.before, v.content, linediff.Quick)) {
		all++
		h.Lines = shortenRemoved(h.Lines)
		text := h.String()
		if cost := tokenCost(text); cost <= room {
			b.WriteString(text)
			room -= cost
			shown++
		}
	}
	if shown == 0 {
		return ""
	}
	of := v.since
	if shown < all {
		of += fmt.Sprintf(", %d of %d", shown, all)
	}
	return v.heading(of) + fenced("diff", b.String())
}

// shortenRemoved cuts each run of removed lines in a hunk to maxRemoved lines, followed by
// the number of lines cut.
func shortenRemoved(lines []string) []string {
	var short []string
	for len(lines) > 0 {
		run := slices.IndexFunc(lines, func(line string) bool { return line[0] != byte(linediff.Removed) })
		switch {
		case run == 0:
			run = 1
		case run < 0:
			run = len(lines)
		}
		shown := run
		if run > maxRemoved+1 {
			shown = maxRemoved
		}
		short = append(short, lines[:shown]...)
		if shown < run {
			short = append(short, fmt.Sprintf("\\ %d more removed lines\n", run-shown))
		}
		lines = lines[run:]
	}
	return short
}
