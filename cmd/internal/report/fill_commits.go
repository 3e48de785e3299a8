package report

import (
	"context"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/blame"
)

const (
	// maxRead bounds the bytes of a commit's diff that are read, maxShown those that are kept
	// for the page.
	maxRead  = 1 << 20
	maxShown = 64 << 10
)

// commits reads the diffs of the commits, and the authors of the added lines.
func (f *filling) commits(ctx context.Context) error {
	patches := make([][]git.Patch, len(f.oids))
	if err := f.readPatches(ctx, patches); err != nil {
		return err
	}
	var added []blame.AddedFile
	for i, files := range patches {
		for _, p := range files {
			if lines := blame.AddedLines(p); len(lines) > 0 {
				added = append(added, blame.AddedFile{Commit: f.oids[i], Path: p.Path, Lines: lines})
			}
		}
	}
	f.progress("authors", 0, int64(len(added)))
	if err := (blame.Reader{Repo: f.Repo, Workspace: f.Workspace, Index: f.index}).Attribute(ctx, added); err != nil {
		return err
	}
	turnsOf := map[string][]int{} // the turns of a session, in the order of lines
	for i := range f.rows {
		if f.rows[i].Context == "" {
			turnsOf[f.rows[i].Session] = append(turnsOf[f.rows[i].Session], i)
		}
	}
	for i, files := range patches {
		c := &f.report.Commits[i]
		room := maxShown
		for _, p := range files {
			var lines []blame.Line
			if len(added) > 0 && added[0].Commit == f.oids[i] && added[0].Path == p.Path {
				lines, added = added[0].Lines, added[1:]
			}
			c.Files = append(c.Files, f.file(p, lines, turnsOf, &room))
		}
	}
	return ctx.Err()
}

// readPatches reads the diffs of the commits. A commit with objects missing in this clone has
// none.
func (f *filling) readPatches(ctx context.Context, patches [][]git.Patch) error {
	absent, err := git.MissingObjects(ctx, f.Repo, f.oids)
	if err != nil {
		return err
	}
	missing := map[git.OID]bool{}
	for _, oid := range absent {
		missing[oid] = true
	}
	var here []int // indexes into f.oids
	for i, oid := range f.oids {
		if !missing[oid] {
			here = append(here, i)
		}
	}
	for len(here) > 0 {
		oids := make([]git.OID, len(here))
		for n, i := range here {
			oids[n] = f.oids[i]
		}
		done := 0
		err := git.Patches(ctx, f.Repo, oids, maxRead, func(_ git.OID, files []git.Patch) error {
			patches[here[done]] = files
			done++
			f.progress("commits", int64(len(f.oids)-len(here)+done), int64(len(f.oids)))
			return nil
		})
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		here = here[min(done+1, len(here)):] // an object of the commit is missing
	}
	return nil
}

// file returns a file of a commit; lines are the lines that it adds, with their authors. It
// subtracts the size of the kept hunks from room.
func (f *filling) file(p git.Patch, lines []blame.Line, turnsOf map[string][]int, room *int) File {
	file := File{Path: f.Redact.Path(p.Path), OldPath: f.Redact.Path(p.OldPath), Added: p.Added, Removed: p.Removed, Binary: p.Binary}
	switch p.Status {
	case 'A':
		file.Note = "new"
	case 'D':
		file.Note = "deleted"
	case 'R':
		file.Note = "renamed"
	case 'C':
		file.Note = "copied"
	}
	next, share := 0, blame.Share{}
	mark := func() (Writer, int) {
		if next == len(lines) {
			return UnknownWriter, -1
		}
		a := lines[next].Author
		next++
		share.Count(p.Path, a)
		switch {
		case a == nil, a.Kind == blame.Unknown:
			return UnknownWriter, -1
		case a.Kind != blame.Agent:
			return Person, -1
		}
		// Its turn is the first that begins at the line of its record or after it, as a prompt
		// comes after the line at which its hook ran.
		for _, i := range turnsOf[a.Session] {
			if f.rows[i].Line >= a.Turn.Line {
				return Agent, i
			}
		}
		return Agent, -1
	}
	for i, h := range p.Hunks {
		hunk := Hunk{Old: h.Old, New: h.New}
		size := 0
		for _, text := range p.Texts[i] {
			size += len(text) + 1
			addLine(&hunk, text, mark)
		}
		if *room -= size; *room < 0 || p.Texts[i] == nil {
			continue
		}
		f.redactHunk(&hunk)
		file.Hunks = append(file.Hunks, hunk)
	}
	if !agent.IsOwnFile(p.Path) {
		share.Unknown += p.Added - share.Total()
	}
	file.Share = Share(share)
	return file
}

// addLine adds a line of a diff to a hunk. mark returns the writer of the next added line.
func addLine(h *Hunk, text string, mark func() (Writer, int)) {
	kind, by, turn := Kept, NoWriter, -1
	switch text[:min(1, len(text))] {
	case "+":
		kind = Added
		by, turn = mark()
	case "-":
		kind = Removed
	}
	text = strings.TrimSuffix(text[min(1, len(text)):], "\r")
	if n := len(h.Blocks); n > 0 {
		if last := &h.Blocks[n-1]; last.Kind == kind && last.By == by && last.Turn == turn {
			last.Text += "\n" + text
			last.Lines++
			return
		}
	}
	h.Blocks = append(h.Blocks, Block{Kind: kind, By: by, Turn: turn, Text: text, Lines: 1})
}
