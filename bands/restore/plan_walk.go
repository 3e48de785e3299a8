package restore

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"sync"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
)

// planner fills a plan with the steps that turn one side of a comparison into the other.
type planner struct {
	comparison

	Plan   *Plan
	busy   map[string]bool // main files of databases that stay as they are
	Seen   map[string]bool // visited paths of the scope
	linked []linkPair      // files with several links, on either side
	lost   *lostCheck      // of files that replace nothing; nil: they are checked at once
	// Later is called for a directory to be created, whose content is planned when it is created;
	// nil: it is planned with the rest.
	Later func(path string, want *band.Entry)
	// lists identifies the state that each step gives to its path.
	lists bool
}

// linkPair is a path that has several links now or in the target.
type linkPair struct {
	path      string
	was, want *band.Entry
}

// run fills the plan.
func (p *planner) run(ctx context.Context, now, want band.Ref) error {
	w, err := band.LoadDir(p.Now, now)
	if err != nil {
		return err
	}
	t, err := band.LoadDir(p.Want, want)
	if err != nil {
		return err
	}
	p.Plan.Root = &dirSteps{Was: now, Want: want}
	if now.Hash != want.Hash {
		p.lost = newLostCheck(p.Content)
		_, err := p.Merge(ctx, "", w, t, p.Plan)
		p.lost.end(p.Plan)
		if err != nil {
			return err
		}
		if p.Scope.Relate("") == Inside {
			p.directory("", w, t, p.Plan)
		}
	}
	// Paths of the scope that were not visited: a side doesn't hold them, or can't be read.
	for name := range p.Scope.Named {
		if p.Seen[name] || name == "" {
			continue
		}
		_, err := band.LookupPath(p.Want, want, name)
		if errors.Is(err, fs.ErrNotExist) {
			_, err = band.LookupPath(p.Now, now, name)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case errors.Is(err, band.ErrUnknownPath):
			p.Plan.Unknown = append(p.Plan.Unknown, name)
		case errors.Is(err, band.ErrDamaged), errors.Is(err, band.ErrBadDirectory):
			p.Plan.Damaged = append(p.Plan.Damaged, name)
		case err != nil:
			return err
		}
	}
	p.Plan.Root.sort()
	if err := p.relink(ctx, now, want); err != nil {
		return err
	}
	p.Plan.Tidy()
	return nil
}

// Merge compares the entries of a directory that is on at least one side. It reports whether none
// of them stays.
func (p *planner) Merge(ctx context.Context, dir string, was, want *band.Directory, out *Plan) (gone bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	list := pairs(was, want)
	units := p.units(dir, list, out)
	gone = true
	for _, pair := range list {
		went, done := units[pair.name]
		if !done {
			if went, err = p.entry(ctx, band.JoinPath(dir, pair.name), pair.was, pair.want, out); err != nil {
				return false, err
			}
		}
		gone = gone && went
	}
	return gone, nil
}

// pair is a name with its entries on both sides.
type pair struct {
	name      string
	was, want *band.Entry
}

// pairs merges the entries of two directories by name; nil is an empty directory.
func pairs(was, want *band.Directory) []pair {
	var a, b []band.Entry
	if was != nil {
		a = was.Entries
	}
	if want != nil {
		b = want.Entries
	}
	list := make([]pair, 0, max(len(a), len(b)))
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Name < b[0].Name:
			list, a = append(list, pair{a[0].Name, &a[0], nil}), a[1:]
		case len(a) == 0 || b[0].Name < a[0].Name:
			list, b = append(list, pair{b[0].Name, nil, &b[0]}), b[1:]
		default:
			list, a, b = append(list, pair{a[0].Name, &a[0], &b[0]}), a[1:], b[1:]
		}
	}
	return list
}

// entry plans one path. It reports whether the path is gone afterwards.
func (p *planner) entry(ctx context.Context, path string, was, want *band.Entry, out *Plan) (gone bool, err error) {
	if p.Scope.Hides(path) || p.Scope.Only != nil && !p.Scope.Only[path] {
		return false, nil
	}
	rel := p.Scope.Relate(path)
	if rel == Outside {
		return false, nil
	}
	p.see(path)
	p.noteLinks(path, was, want, rel)
	if p.same(was, want) {
		return false, nil
	}
	// Paths that differ but stay are listed.
	var stays *[]string
	switch {
	case rel == Inside && p.Scope.keeps(path, was, want):
		stays = &out.Kept
	case path == agentDir && !p.Scope.names(path):
		stays = &out.Unnamed
	case was != nil && was.Kind == band.Unknown, want != nil && want.Kind == band.Unknown:
		stays = &out.Unknown
	}
	if stays != nil {
		*stays = append(*stays, path)
		return false, nil
	}
	wasDir, wantDir := band.IsDir(was), band.IsDir(want)
	// An undo leaves paths that the restore didn't change, or that were changed since. For
	// directories that are created or removed this depends on their contents.
	byContent := wasDir && (wantDir || want == nil) || was == nil && wantDir
	if rel == Inside && p.Scope.Undo != nil && !byContent && !p.takesBack(path, was) {
		p.keep(path, was, want, out)
		return false, nil
	}
	switch {
	case wasDir && wantDir:
		return false, p.bothDirs(ctx, path, was, want, out)
	case wantDir:
		return false, p.makeDir(ctx, path, was, want, out)
	case wasDir && want == nil:
		return p.removeDir(ctx, path, was, out)
	case wasDir:
		return false, p.dirToFile(ctx, path, was, want, out)
	case rel != Inside:
		return false, nil
	case want == nil && !p.Scope.deletes(path, was):
		out.Kept = append(out.Kept, path)
		return false, nil
	case want == nil:
		p.does(out, namedStep{Name: was.Name, Kind: StepDelete, Was: was.Kind}, nil)
		return true, nil
	}
	// A file or symlink in the target, and no directory now.
	if was != nil || p.lost == nil {
		if !p.Content.Whole(want) {
			out.Damaged = append(out.Damaged, path)
			return false, nil
		}
	} else if want.Kind == band.File && want.Size > 0 {
		p.lost.work <- lostEntry{path, want}
	}
	p.does(out, namedStep{Name: want.Name, Kind: p.kindOf(was, want), Was: kindOf(was)}, want)
	return false, nil
}

func (p *planner) see(path string) {
	if p.Scope.Named[path] {
		p.Seen[path] = true
	}
}

// noteLinks records paths that may have to be linked with or separated from others.
func (p *planner) noteLinks(path string, was, want *band.Entry, rel Relation) {
	if rel == Inside && ((was != nil && was.Link != 0) || (want != nil && want.Link != 0)) {
		p.linked = append(p.linked, linkPair{path, was, want})
	}
}

// does adds the step that makes an entry equal to the target's, or removes it if want is nil.
func (p *planner) does(out *Plan, s namedStep, want *band.Entry) {
	out.Root.List = append(out.Root.List, p.completed(s, want))
}

// completed returns the step with the fields derived from the target's entry.
func (p *planner) completed(s namedStep, want *band.Entry) namedStep {
	s.Want = kindOf(want)
	if want != nil && s.Kind != StepAttributes {
		p.Plan.Size += want.Size
	}
	s.state = noState
	if p.lists && (s.Kind != StepAttributes || s.Want != band.Dir) { // those are in Plan.Dirs
		if is, ok := stateOf("", want, p.Content.Records.Parts); ok {
			s.state = is.stateID
		}
	}
	return s
}

func (c *comparison) kindOf(was, want *band.Entry) StepKind {
	switch {
	case was == nil:
		return StepCreate
	case was.Kind != want.Kind:
		return StepReplace
	// Attributes of a file with several links are those of all its names, including names outside
	// the tree: it is rewritten.
	case c.sameContent(was, want) && was.Link == 0:
		return StepAttributes
	}
	return StepRewrite
}

// lostCheck checks, during the walk, that the store has the contents of new files. Steps of files
// whose content is lost are removed.
type lostCheck struct {
	content *bands.ContentReader
	work    chan lostEntry
	group   sync.WaitGroup

	mu   sync.Mutex
	lost map[string]bool
}

type lostEntry struct {
	path string
	e    *band.Entry
}

func newLostCheck(content *bands.ContentReader) *lostCheck {
	l := &lostCheck{content: content, work: make(chan lostEntry, 256), lost: map[string]bool{}}
	for range max(runtime.NumCPU(), 2) {
		l.group.Go(func() {
			for w := range l.work {
				if !l.content.Whole(w.e) {
					l.mu.Lock()
					l.lost[w.path] = true
					l.mu.Unlock()
				}
			}
		})
	}
	return l
}

// end waits for the checks and removes the steps of lost files.
func (l *lostCheck) end(p *Plan) {
	close(l.work)
	l.group.Wait()
	if len(l.lost) == 0 {
		return
	}
	for d := range p.Root.Dirs() {
		d.List = slices.DeleteFunc(d.List, func(s namedStep) bool {
			gone := s.Kind == StepCreate && l.lost[d.PathOf(&s)]
			if gone {
				p.Damaged = append(p.Damaged, d.PathOf(&s))
			}
			return gone
		})
	}
}
