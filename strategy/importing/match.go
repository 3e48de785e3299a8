package importing

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Evidence is what shows that a session made a commit, or a part of it.
type Evidence string

// The kinds of evidence, the strongest first.
const (
	// Shown: the session's transcript shows the commit.
	Shown Evidence = "shown"
	// Rewritten: the transcript shows a commit that was rewritten into this one.
	Rewritten Evidence = "rewritten"
	// Lines: the commit adds lines that the session wrote before.
	Lines Evidence = "lines"
)

// link is a commit with the sessions that made it, or lines of it.
type link struct {
	commit   git.Commit
	evidence Evidence
	shares   map[int]*share // by session
	files    []linkedFile
	lines    int // of sessions
}

// share is the part of a session in a commit.
type share struct {
	lines int
	// from and to are the lines of the transcript between which the session made its part.
	from, to int
}

// linkedFile is a file of a commit with the lines that sessions wrote.
type linkedFile struct {
	git.FileDiff

	added []attribution.PrintedLine
	texts []string // of added
	// moved reports which of added the commit also removes from the file, ignoring white space: it only moved
	// or indented them.
	moved []bool
	by    []origin // of added
}

// origin is the call that wrote a line. session is -1 if none is known to have.
type origin struct {
	session int
	call    int32
}

// matcher compares commits with the lines that sessions wrote.
type matcher struct {
	w        *workspace.Workspace
	h        *history
	sessions []*past
	// files are the lines that sessions wrote, by session and by the path from the root, in the order in which they
	// were written. byPath and byBase list the sessions that wrote to a file, or to one of that name.
	files  []map[string][]writtenLine
	byPath map[string][]int
	byBase map[string][]fileOf
	// shown are the sessions that show a commit, and where. lost are shown commits that aren't in the history.
	shown map[git.OID][]shownBy
	lost  []lostCommit
	// unlinked are the reasons why commits with some evidence aren't linked.
	unlinked map[git.OID]string
	// weak is the number of letters in the present commit's lines that a session wrote, too.
	weak int
}

type fileOf struct {
	session int
	path    string
}

type shownBy struct {
	session  int
	line     int
	evidence Evidence
}

// lostCommit is a commit that a session shows and that the history doesn't have.
type lostCommit struct {
	shownBy

	id string
}

const (
	// mostLost is the number of commits that are compared with lost ones by their patches.
	mostLost = 500
	// chunk is the number of commits whose differences are compared at once, mostPatch the size of a
	// commit's difference that is read, in bytes.
	chunk     = 50
	mostPatch = 4 << 20
	// soon is how long before a commit a session wrote all lines that it adds to a file, if these have only
	// leastWhole letters and digits.
	soon       = 24 * time.Hour
	leastWhole = 10
	// fewLetters is the number of letters and digits below which a line also needs its neighbours.
	fewLetters = 12
	// clockSlack is the maximum difference between the clocks of two machines.
	clockSlack = 10 * time.Minute
)

// newMatcher returns a matcher for sessions.
func newMatcher(w *workspace.Workspace, h *history, sessions []*past, at *places) *matcher {
	m := &matcher{w: w, h: h, sessions: sessions, byPath: map[string][]int{}, byBase: map[string][]fileOf{}, shown: map[git.OID][]shownBy{}, unlinked: map[git.OID]string{}}
	for i, p := range sessions {
		files := map[string][]writtenLine{}
		own := ""
		if p.root == "" && p.Dir != "" {
			own = at.rootOf(p)
		}
		for _, given := range slices.Sorted(maps.Keys(p.texts)) {
			lines := p.texts[given]
			if at := slices.IndexFunc(lines, func(l writtenLine) bool { return p.calls[l.call].line >= p.own }); at != 0 {
				lines = slices.DeleteFunc(slices.Clone(lines), func(l writtenLine) bool { return p.calls[l.call].line < p.own })
			}
			if name := at.relative(given, own); name != "" && len(lines) > 0 {
				files[name] = append(files[name], lines...)
			}
		}
		for name, lines := range files {
			slices.SortStableFunc(lines, func(a, b writtenLine) int { return p.calls[a.call].at.Compare(p.calls[b.call].at) })
			m.byPath[name] = append(m.byPath[name], i)
			m.byBase[path.Base(name)] = append(m.byBase[path.Base(name)], fileOf{i, name})
		}
		p.texts, p.touched = nil, map[string]int{}
		for name, lines := range files {
			for _, l := range lines {
				p.touched[name] = max(p.touched[name], p.calls[l.call].line)
			}
		}
		m.files = append(m.files, files)
	}
	for i, p := range sessions {
		for _, s := range p.shown {
			if s.line >= p.own {
				m.show(i, s)
			}
		}
	}
	for _, list := range m.byBase {
		slices.SortFunc(list, func(a, b fileOf) int { return cmp.Or(a.session-b.session, strings.Compare(a.path, b.path)) })
	}
	return m
}

// show notes the commits that a session shows.
func (m *matcher) show(session int, s shownCommit) {
	oid := m.h.resolve(s.id)
	switch {
	case s.isListed && (oid == "" || !m.h.isMadeWithin(oid, s.at.Add(-listedSoon), s.at.Add(madeAfter))):
	case oid != "":
		m.shown[oid] = append(m.shown[oid], shownBy{session, s.line, Shown})
	case s.id == "":
		for _, oid := range m.h.withSubject(s.subject, s.begun.Add(-madeAfter), s.at.Add(madeAfter)) {
			m.shown[oid] = append(m.shown[oid], shownBy{session, s.line, Shown})
		}
	default:
		by := shownBy{session, s.line, Rewritten}
		found := m.h.rewritten(s)
		for _, oid := range found {
			m.shown[oid] = append(m.shown[oid], by)
		}
		if len(found) == 0 {
			m.lost = append(m.lost, lostCommit{by, s.id})
		}
	}
}

// findLost finds the commits with the patches of shown ones that aren't in the history, as far as the repository
// still has them.
func (m *matcher) findLost(ctx context.Context) error {
	lost := map[git.OID][]shownBy{}
	var first time.Time
	for _, l := range m.lost {
		c, err := m.w.Repo.Commit(ctx, l.id)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue
		}
		lost[c.OID] = append(lost[c.OID], l.shownBy)
		if first.IsZero() || c.Author.When.Before(first) {
			first = c.Author.When
		}
	}
	if len(lost) == 0 {
		return nil
	}
	var later []git.OID
	for _, c := range m.h.commits {
		if _, isOpen := m.h.open[c.OID]; isOpen && len(m.shown[c.OID]) == 0 && !c.Committer.When.Before(first) && len(later) < mostLost {
			later = append(later, c.OID)
		}
	}
	patches, err := git.PatchIDs(ctx, m.w.Repo, append(slices.Collect(maps.Keys(lost)), later...))
	if err != nil {
		return err
	}
	for _, oid := range later {
		for from, by := range lost {
			if patches[oid] != "" && patches[oid] == patches[from] {
				m.shown[oid] = append(m.shown[oid], by...)
			}
		}
	}
	return nil
}

// places maps absolute paths to paths from the root of the repository.
type places struct {
	ctx   context.Context //nolint:containedctx // of the import
	repo  *git.Repo
	tree  git.OID // of HEAD, empty if there is none
	roots []string
	known map[string]bool // paths of HEAD
}

// agentWorktrees returns folders in which agents and people keep worktrees of a repository.
func agentWorktrees() []string {
	return []string{".claude/worktrees/", ".worktrees/", ".git/worktrees/"}
}

// mostParts is the maximum number of parts of a worktree's name.
const mostParts = 4

// relative returns a path from the first root that it is below, "" if it is below none. own is a root of the
// session alone, which may be empty.
func (p *places) relative(given, own string) string {
	roots := p.roots
	if own != "" {
		roots = append([]string{own}, roots...)
	}
	for _, root := range roots {
		rest, below := strings.CutPrefix(given, strings.TrimSuffix(root, "/")+"/")
		if !below || rest == "" {
			continue
		}
		for _, folder := range agentWorktrees() {
			if inside, found := strings.CutPrefix(rest, folder); found {
				return p.inWorktree(inside)
			}
		}
		return rest
	}
	return ""
}

// inWorktree returns a path below the folder of worktrees without the worktree's name: the path that HEAD
// has, else without its first part.
func (p *places) inWorktree(inside string) string {
	first := ""
	for range mostParts {
		_, rest, found := strings.Cut(inside, "/")
		if !found {
			break
		}
		if p.has(rest) {
			return rest
		}
		if first == "" {
			first = rest
		}
		inside = rest
	}
	return first
}

// has reports whether HEAD has a path.
func (p *places) has(name string) bool {
	if has, known := p.known[name]; known || p.tree == "" {
		return has
	}
	_, found, err := git.LookupPath(p.ctx, p.repo, p.tree, name)
	p.known[name] = err == nil && found
	return p.known[name]
}

// rootOf returns the folder in which a session from elsewhere had the repository: the one at or above its
// working folder in which most of the files that it wrote are files of HEAD.
func (p *places) rootOf(s *past) string {
	best, most := "", 0
	for dir := path.Clean(s.Dir); path.IsAbs(dir); dir = path.Dir(dir) {
		n := 0
		for name := range s.texts {
			if rest, below := strings.CutPrefix(name, strings.TrimSuffix(dir, "/")+"/"); below && p.has(rest) {
				n++
			}
		}
		if n > most {
			best, most = dir, n
		}
		if dir == "/" {
			break
		}
	}
	return cmp.Or(best, s.Dir)
}

// all compares all commits, and calls yield with each one that is linked.
func (m *matcher) all(ctx context.Context, progress func(done, total int64), yield func(*link) error) error {
	var list []git.Commit
	for _, c := range m.h.commits {
		if _, isOpen := m.h.open[c.OID]; isOpen {
			list = append(list, c)
		}
	}
	done := int64(0)
	for part := range slices.Chunk(list, chunk) {
		if err := m.compare(ctx, part, yield); err != nil {
			return err
		}
		done += int64(len(part))
		progress(done, int64(len(list)))
	}
	return nil
}

// compare compares commits.
func (m *matcher) compare(ctx context.Context, commits []git.Commit, yield func(*link) error) error {
	byOID := make(map[git.OID]git.Commit, len(commits))
	oids := make([]git.OID, 0, len(commits))
	for _, c := range commits {
		byOID[c.OID], oids = c, append(oids, c.OID)
	}
	var links []*link
	var before []git.OID
	for len(oids) > 0 {
		done := 0
		err := git.Patches(ctx, m.w.Repo, oids, mostPatch, func(oid git.OID, patches []git.Patch) error {
			done++
			l := &link{commit: byOID[oid], shares: map[int]*share{}}
			for _, p := range patches {
				f := linkedFile{FileDiff: p.FileDiff}
				if f.added, f.texts = query.AddedLines(p); len(f.added) > 0 {
					f.moved = movedLines(p, f.added)
					l.files = append(l.files, f)
					if m.hasCandidates(&f) {
						before = append(before, p.Old)
					}
				}
			}
			links = append(links, l)
			return nil
		})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			done++ // this clone lacks objects of the commit
		}
		oids = oids[min(done, len(oids)):]
	}
	had, err := readFormer(ctx, m.w.Repo, before)
	if err != nil {
		return err
	}
	for _, l := range links {
		if !m.link(l, had) {
			continue
		}
		if err := yield(l); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// movedLines reports which of the added lines a patch also removes.
func movedLines(p git.Patch, added []attribution.PrintedLine) []bool {
	removed := map[uint32]int{}
	for _, hunk := range p.Texts {
		for _, text := range hunk {
			if line, found := strings.CutPrefix(text, "-"); found {
				removed[checkpoint.Print([]byte(line))]++
			}
		}
	}
	moved := make([]bool, len(added))
	for i, line := range added {
		if removed[line.Print] > 0 {
			removed[line.Print]--
			moved[i] = true
		}
	}
	return moved
}

// former has the fingerprints of the lines of a file before a commit.
type former struct{ exact, loose map[uint32]bool }

// readFormer reads the lines of blobs. Blobs that are missing are left out.
func readFormer(ctx context.Context, repo *git.Repo, blobs []git.OID) (map[git.OID]former, error) {
	blobs = slices.DeleteFunc(blobs, func(oid git.OID) bool { return !repo.Format.Valid(oid) || oid == repo.Format.Zero() })
	slices.Sort(blobs)
	had := make(map[git.OID]former, len(blobs))
	err := repo.ReadMany(ctx, slices.Compact(blobs), func(o git.Object) error {
		f := former{map[uint32]bool{}, map[uint32]bool{}}
		query.AddPrints(f.exact, o.Data)
		for line := range strings.Lines(string(o.Data)) {
			f.loose[loosePrint(line)] = true
		}
		had[o.OID] = f
		return nil
	})
	return had, err
}

// hasCandidates reports whether a session wrote to a file.
func (m *matcher) hasCandidates(f *linkedFile) bool {
	return len(m.byPath[f.Path])+len(m.byPath[f.OldPath])+len(m.byBase[path.Base(f.Path)]) > 0
}

// link determines the sessions of a commit. It returns false if there are none.
func (m *matcher) link(l *link, had map[git.OID]former) bool {
	confirmed := map[int]bool{}
	for _, s := range m.shown[l.commit.OID] {
		confirmed[s.session] = true
	}
	shown := maps.Clone(confirmed)
	tied := false
	for range 2 { // what one file confirms counts for all
		before := len(confirmed)
		l.lines, tied, m.weak = 0, false, 0
		clear(l.shares)
		for i := range l.files {
			if m.match(l, &l.files[i], had[l.files[i].Old], confirmed, shown) {
				tied = true
			}
		}
		for session := range l.shares {
			confirmed[session] = true
		}
		if len(confirmed) == before {
			break
		}
	}
	m.addShown(l)
	if len(l.shares) > 0 {
		return true
	}
	switch {
	case tied:
		m.unlinked[l.commit.OID] = "sessions in several worktrees wrote its lines"
	case m.weak > 0:
		m.unlinked[l.commit.OID] = fmt.Sprintf("a session wrote only %d letters of its lines", m.weak)
	}
	return false
}

// addShown adds the sessions that show the commit: all that have a share, else the first one if sessions
// without it wrote less than half of the added lines.
func (m *matcher) addShown(l *link) {
	l.evidence = Lines
	added := 0
	for i := range l.files {
		added += len(l.files[i].added)
	}
	for _, s := range m.shown[l.commit.OID] {
		own := l.shares[s.session]
		if own == nil && 2*l.lines >= added && l.lines > 0 {
			continue
		}
		if own == nil {
			own = &share{from: s.line}
			l.shares[s.session] = own
		}
		own.to = max(own.to, s.line+1)
		own.from = min(own.from, s.line)
		if l.evidence != Shown {
			l.evidence = s.evidence
		}
	}
}

// candidate is a session that may have written lines of a file.
type candidate struct {
	session int
	// sameName reports that it wrote to the path of the file, or to its former one.
	sameName bool
	lines    []writtenLine
	printed  []attribution.PrintedLine
	at       []attribution.Followed
	// occurs lists the indexes in lines of each print.
	occurs map[uint32][]int
}

// match finds the sessions that wrote the lines of a file. It returns true if lines have no session because
// several wrote them in worktrees of their own.
func (m *matcher) match(l *link, f *linkedFile, had former, confirmed, shown map[int]bool) (tied bool) {
	f.by = make([]origin, len(f.added))
	for i := range f.by {
		f.by[i].session = -1
	}
	candidates := m.candidates(l.commit, f, had, confirmed)
	tied = m.assign(l, f, f.added, candidates, shown)
	if !slices.ContainsFunc(f.by, func(by origin) bool { return by.session < 0 }) {
		return tied
	}
	// What is left may have been formatted.
	loose := make([]attribution.PrintedLine, len(f.added))
	for i, line := range f.added {
		loose[i] = attribution.PrintedLine{Number: line.Number, Print: loosePrint(f.texts[i])}
		if f.by[i].session < 0 {
			loose[i].Letters = line.Letters
		}
	}
	candidates = m.formatted(candidates, loose, had.loose, confirmed)
	return m.assign(l, f, loose, candidates, shown) || tied
}

// assign assigns those of the lines of a file without a session that candidates wrote. now has the lines as
// they were compared.
func (m *matcher) assign(l *link, f *linkedFile, now []attribution.PrintedLine, candidates []candidate, shown map[int]bool) (tied bool) {
	if len(candidates) == 0 {
		return false
	}
	for i := range f.added {
		if f.by[i].session >= 0 {
			continue
		}
		best, at, isTie := m.best(now, i, candidates, shown)
		if isTie {
			tied = true
		}
		if best == nil || f.moved[i] || now[i].Letters < fewLetters && !best.fits(now, i, at) {
			continue
		}
		call := best.lines[at].call
		f.by[i] = origin{best.session, call}
		p := m.sessions[best.session]
		own := l.shares[best.session]
		if own == nil {
			own = &share{from: p.lines}
			l.shares[best.session] = own
		}
		own.lines++
		l.lines++
		from, to := p.turnOf(call)
		own.from, own.to = min(own.from, from), max(own.to, to)
	}
	return tied
}

// turnOf returns the lines at which the turn of a call begins and ends.
func (p *past) turnOf(call int32) (from, to int) {
	t := p.calls[call].turn
	if t < 0 {
		return p.own, p.calls[call].line + 1
	}
	to = p.lines
	if t+1 < len(p.turns) {
		to = p.turns[t+1].line
	}
	return p.turns[t].line, to
}

// candidates returns the sessions that wrote to a file before the commit, with the lines found.
func (m *matcher) candidates(c git.Commit, f *linkedFile, had former, confirmed map[int]bool) []candidate {
	made := c.Committer.When
	if c.Author.When.After(made) {
		made = c.Author.When
	}
	list := m.writtenUntil(made.Add(madeAfter), f)
	if len(list) == 0 { // the clocks of two machines may differ
		list = m.writtenUntil(made.Add(clockSlack), f)
	}
	weak := 0
	for i := range list {
		one := &list[i]
		isConfirmed := confirmed[one.session]
		one.at = attribution.FollowPrints(one.printed, f.added, had.exact, attribution.Evidence{SameName: one.sameName, Confirmed: isConfirmed})
		last := m.sessions[one.session].calls[one.lines[len(one.lines)-1].call]
		if one.sameName && made.Sub(last.at) < soon {
			least := leastWhole
			if isConfirmed {
				least = 1
			}
			one.findWhole(f.added, had.exact, least)
		}
		one.index()
		letters := 0
		for _, line := range f.added {
			if len(one.occurs[line.Print]) > 0 && !had.exact[line.Print] {
				letters += line.Letters
			}
		}
		weak = max(weak, letters)
	}
	m.weak += weak
	return list
}

// writtenUntil returns the sessions that wrote to a file until a time: to its path or its former one, else to a
// file of the same base name.
func (m *matcher) writtenUntil(limit time.Time, f *linkedFile) (list []candidate) {
	add := func(session int, name string, sameName bool) {
		p, lines := m.sessions[session], m.files[session][name]
		n, _ := slices.BinarySearchFunc(lines, limit, func(l writtenLine, limit time.Time) int {
			if p.calls[l.call].at.After(limit) {
				return 1
			}
			return -1
		})
		if n == 0 || slices.ContainsFunc(list, func(o candidate) bool { return o.session == session }) {
			return
		}
		one := candidate{session: session, sameName: sameName, lines: lines[:n]}
		number := 0
		for _, l := range one.lines {
			if number++; l.begins {
				number++
			}
			one.printed = append(one.printed, attribution.PrintedLine{Number: number, Print: l.print, Letters: int(l.letters)})
		}
		list = append(list, one)
	}
	for _, name := range slices.Compact([]string{f.Path, f.OldPath}) {
		for _, session := range m.byPath[name] {
			add(session, name, true)
		}
	}
	for _, other := range m.byBase[path.Base(f.Path)] {
		if other.path != f.Path && other.path != f.OldPath {
			add(other.session, other.path, false)
		}
	}
	return list
}

// formatted returns the candidates with the lines found whose letters and digits are equal.
func (m *matcher) formatted(candidates []candidate, now []attribution.PrintedLine, had map[uint32]bool, confirmed map[int]bool) (list []candidate) {
	for _, c := range candidates {
		printed := slices.Clone(c.printed)
		lines := slices.Clone(c.lines)
		for i, l := range lines {
			printed[i].Print, lines[i].print = l.loose, l.loose
		}
		one := candidate{session: c.session, lines: lines, printed: printed}
		one.at = attribution.FollowPrints(printed, now, had, attribution.Evidence{SameName: true, Confirmed: confirmed[c.session]})
		one.index()
		list = append(list, one)
	}
	return list
}

// index sets occurs.
func (c *candidate) index() {
	c.occurs = map[uint32][]int{}
	for n, l := range c.lines {
		c.occurs[l.print] = append(c.occurs[l.print], n)
	}
}

// findWhole finds all lines that a commit adds to a file if the session wrote them soon before and they have
// at least so many letters.
func (c *candidate) findWhole(now []attribution.PrintedLine, had map[uint32]bool, least int) {
	places := map[uint32]int{}
	for i, l := range c.printed {
		places[l.Print] = i + 1
	}
	letters := 0
	for i, l := range now {
		if c.at[i].Number > 0 || places[l.Print] == 0 && l.Letters > 0 || had[l.Print] && l.Letters > 0 {
			return
		}
		letters += l.Letters
	}
	if letters < least {
		return
	}
	for i, l := range now {
		if at := places[l.Print]; at > 0 {
			c.at[i] = attribution.Followed{Number: c.printed[at-1].Number, Letters: letters}
		}
	}
}

// best returns the candidate that wrote a line, and the index of the line among those that it wrote: of those
// whose longest equal part around the line has at least half of the letters of the longest one, the candidate
// that shows the commit, else the one that wrote the line last. It returns none if two of them were at work in
// different worktrees.
func (m *matcher) best(now []attribution.PrintedLine, line int, candidates []candidate, shown map[int]bool) (best *candidate, at int, tied bool) {
	type place struct{ at, letters int }
	places := make([]place, len(candidates))
	most := 0
	for i := range candidates {
		c := &candidates[i]
		if c.at[line].Number == 0 {
			continue
		}
		places[i].at, places[i].letters = c.occurrence(now, line)
		most = max(most, places[i].letters)
	}
	if most == 0 {
		return nil, 0, false
	}
	var bestAt time.Time
	for i := range candidates {
		c := &candidates[i]
		if c.at[line].Number == 0 || 2*places[i].letters < most {
			continue
		}
		written := c.lines[places[i].at]
		when := m.sessions[c.session].calls[written.call].at
		switch {
		case best == nil:
			best, at, bestAt = c, places[i].at, when
		case written.mayRepeat != best.lines[at].mayRepeat: // the other one wrote the line
			if best.lines[at].mayRepeat {
				best, at, bestAt, tied = c, places[i].at, when, false
			}
		case written.mayRepeat && !tied: // the first one wrote the line
			if when.Before(bestAt) {
				best, at, bestAt = c, places[i].at, when
			}
		case shown[c.session] && !shown[best.session]:
			best, at, bestAt, tied = c, places[i].at, when, false
		case shown[best.session] && !shown[c.session]:
		case m.sessions[c.session].root != m.sessions[best.session].root:
			tied = true
		case when.After(bestAt):
			best, at, bestAt = c, places[i].at, when
		}
	}
	if tied {
		return nil, 0, true
	}
	return best, at, false
}

// fits reports whether a line has the neighbours in the file that it has among the lines of its call.
func (c *candidate) fits(now []attribution.PrintedLine, line, at int) bool {
	if at > 0 && !c.lines[at].begins {
		if line == 0 || now[line-1].Number+1 != now[line].Number || now[line-1].Print != c.lines[at-1].print {
			return false
		}
	}
	if at+1 < len(c.lines) && !c.lines[at+1].begins && c.lines[at+1].call == c.lines[at].call {
		return line+1 < len(now) && now[line].Number+1 == now[line+1].Number && now[line+1].Print == c.lines[at+1].print
	}
	return true
}

// mostOccurrences is the number of equal lines of a session that are compared with a line, the last ones.
const mostOccurrences = 100

// occurrence returns the index of the written line that is a line of the file: of several the one with the most
// letters in the equal lines before and after it, of equal ones the last. The lines themselves count, too.
func (c *candidate) occurrence(now []attribution.PrintedLine, line int) (at, letters int) {
	occurs := c.occurs[now[line].Print]
	for _, n := range slices.Backward(occurs[max(0, len(occurs)-mostOccurrences):]) {
		sum := 1 + now[line].Letters
		for i, k := line, n; i > 0 && k > 0 && !c.lines[k].begins && now[i].Number == now[i-1].Number+1 && c.lines[k-1].print == now[i-1].Print; i, k = i-1, k-1 {
			sum += 1 + now[i-1].Letters
		}
		for i, k := line+1, n+1; i < len(now) && k < len(c.lines) && !c.lines[k].begins && now[i].Number == now[i-1].Number+1 && c.lines[k].print == now[i].Print; i, k = i+1, k+1 {
			sum += 1 + now[i].Letters
		}
		if sum > letters {
			at, letters = n, sum
		}
	}
	return at, letters
}
