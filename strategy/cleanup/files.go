package cleanup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

// files lists the copies and leftover files that have reached their age limit.
func (c Cleaner) files(v *view) ([]Item, error) {
	dirs := []remains{
		{c.w.TranscriptCopies(), copyAge, Transcript, "older than 30 days", func(name string) bool { return strings.HasSuffix(name, ".jsonl") }},
		{c.w.Sessions.Dir(), copyAge, Leftover, "damaged, set aside more than 30 days ago", isAside},
		{c.w.Sessions.SideDir(), copyAge, Leftover, "of a session forgotten more than 30 days ago", v.isForgotten},
		{tracking.JournalDir(c.w), copyAge, Leftover, "damaged, set aside more than 30 days ago", isAside},
	}
	if v.unread == 0 {
		dirs = append(dirs, remains{c.w.Sessions.SideDir(), writeAge, Leftover, "its session's state is gone", v.stateless})
		dirs = append(dirs, c.handedOver(v)...)
	}
	var items []Item
	for _, d := range dirs {
		entries, err := os.ReadDir(d.dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || !d.is(e.Name()) {
				continue
			}
			if info, err := e.Info(); err == nil && v.now.Sub(info.ModTime()) > d.age {
				items = append(items, Item{Kind: d.kind, Name: filepath.Join(d.dir, e.Name()), Why: d.why})
			}
		}
	}
	temporary, err := record.TempFiles(c.w)
	if err != nil {
		return nil, err
	}
	for _, path := range temporary {
		items = append(items, Item{Kind: Leftover, Name: path, Why: "temporary, its writer was stopped"})
	}
	return items, nil
}

// handedOver returns the folders of transcripts that were written from data handed over by
// agents, and their subfolders for subagents.
func (c Cleaner) handedOver(v *view) []remains {
	const why = "its session's state is gone, 30 days ago or more"
	var dirs []remains
	for _, a := range agent.All() {
		if !a.HandsOver() {
			continue
		}
		dir := filepath.Join(c.w.RecordsDir(), a.Name)
		isGone := func(name string) bool {
			id, _, _ := strings.Cut(name, ".")
			return v.stateless(id + ".jsonl")
		}
		dirs = append(dirs, remains{dir, copyAge, Leftover, why, func(name string) bool { return name != "lock" && isGone(name) }})
		entries, _ := os.ReadDir(dir) // without it there are none
		for _, e := range entries {
			if e.IsDir() && isGone(e.Name()) {
				dirs = append(dirs, remains{filepath.Join(dir, e.Name(), "subagents"), copyAge, Leftover, why, func(string) bool { return true }})
			}
		}
	}
	return dirs
}

// remains selects the files of one folder that may be removed, by name and age.
type remains struct {
	dir  string
	age  time.Duration
	kind Kind
	why  string
	is   func(name string) bool
}

func isAside(name string) bool { return strings.HasSuffix(name, ".corrupt") }

func isForgotten(name string) bool { return strings.HasSuffix(name, "."+session.ForgottenKind) }

// isForgotten reports whether a side file is the note of a forgotten session that hasn't
// continued since.
func (v *view) isForgotten(name string) bool {
	id := strings.TrimSuffix(name, "."+session.ForgottenKind)
	return isForgotten(name) && !slices.ContainsFunc(v.states, func(s *session.State) bool { return s.ID == id })
}

// stateless reports whether a side file belongs to no known session.
func (v *view) stateless(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 || session.CheckID(name[:dot]) != nil || strings.Contains(name, ".entire-tmp-") || isForgotten(name) {
		return false
	}
	return !slices.ContainsFunc(v.states, func(s *session.State) bool { return s.ID == name[:dot] })
}
