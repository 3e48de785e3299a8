package query

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// A commit that names no checkpoint may have lines of sessions nevertheless: a server that squashes a
// branch, for example, runs no hook. Such a commit is compared with the lines that the commits of
// checkpoints added. docs/formats/authorship.md defines the result.

// DerivedLink is a checkpoint whose lines a commit has that names no checkpoint.
type DerivedLink struct {
	Checkpoint checkpoint.ID
	// Lines is the number of lines of the commit that are in the checkpoint's record.
	Lines int
}

const (
	// clockSlack is the maximum difference between the clocks of two machines at which the commit of a
	// checkpoint counts as older than another commit.
	clockSlack = 10 * time.Minute
	// linesKey is the key of the trees from which the lines in the index were read.
	linesKey = "lines"
	// derivedKey is the key of the trees, branches and notes from which the links in the index were
	// derived.
	derivedKey = "derived"
	// mostCompared is the number of commits that are compared at once, maxCompared the size of a
	// commit's diff that is read, in bytes.
	mostCompared = 50
	maxCompared  = 4 << 20
	// mostDerived is the number of the newest commits without links that the index has the links of.
	mostDerived = 1000
	// linkWait is how long a search for links waits for another filler of the index.
	linkWait = 2 * time.Second
	// mostUnprinted is the number of checkpoints without fingerprints whose transcripts are read for one
	// file.
	mostUnprinted = 20
)

// LinkOptions are the options of DerivedLinks. All may be empty.
type LinkOptions struct {
	// Index is an index that the caller has open: while it is open nobody can write to it.
	Index *index.Reader
	// Progress reports the metadata that is read.
	Progress Progress
}

// DerivedLinks finds the checkpoints whose lines the commits have, in the order in which they were
// written. Commits without any are left out, and those in the register of seen commits: no session has a
// share in these. It ignores what the commits name. The results are kept in the index, if no other process
// writes to it for long.
func DerivedLinks(ctx context.Context, w *workspace.Workspace, o LinkOptions, commits []git.Commit) (map[git.OID][]DerivedLink, error) {
	commits, err := withoutSeen(w.Repo, commits)
	if err != nil || len(commits) == 0 {
		return nil, err
	}
	state, err := readRecords(ctx, w)
	if err != nil || state.empty() {
		return nil, err
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	links, missing := map[git.OID][]DerivedLink{}, commits
	r := o.Index
	if r == nil {
		if opened, err := index.Open(ctx, indexFiles(w)); err == nil {
			r = opened
		}
	}
	if r != nil {
		links, missing, err = knownLinks(ctx, w, r, &state, commits)
		if o.Index == nil {
			err = errors.Join(err, r.Close())
		}
	}
	if err == nil && len(missing) == 0 {
		return links, nil
	}
	if err := w.CheckTombstones(); err != nil {
		return nil, err
	}
	if o.Index == nil {
		waiting, cancel := context.WithTimeout(ctx, linkWait)
		defer cancel()
		iw, err := index.OpenWriter(waiting, indexFiles(w))
		if err == nil {
			links, err := (&run{Workspace: w, w: iw, progress: o.Progress}).deriveLinks(ctx, &state, commits)
			return links, iw.Close(ctx, err)
		}
		w.Log.InfoContext(ctx, "links are derived without the index", "error", err.Error())
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	ids, err := state.Find(ctx, "")
	if err != nil {
		return nil, err
	}
	var records []index.CommitLines
	_, err = readLines(ctx, lineSource{state.Records, ids}, o.Progress, func(_ checkpoint.ID, rows []index.CommitLines) error {
		records = append(records, rows...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return newDeriving(w, state.Records, records).all(ctx, commits, map[git.OID][]DerivedLink{})
}

// withoutSeen returns the commits that are not in the register of seen commits.
func withoutSeen(repo *git.Repo, commits []git.Commit) ([]git.Commit, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	seen, err := tracking.SeenCommits(repo)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(commits), func(c git.Commit) bool { return seen[c.OID] }), nil
}

// knownLinks returns the links of commits in the index, and the commits that were not compared yet with
// the checkpoints in a state.
func knownLinks(ctx context.Context, w *workspace.Workspace, r *index.Reader, state *recordState, commits []git.Commit) (links map[git.OID][]DerivedLink, missing []git.Commit, err error) {
	text, err := r.Meta(ctx, linesKey)
	if err != nil || !isCurrent(w, text, state) {
		return map[git.OID][]DerivedLink{}, commits, err
	}
	rows, err := r.Derived(ctx, oidsOf(commits))
	if err != nil {
		return nil, nil, err
	}
	links, missing = linksOf(rows, commits)
	return links, missing, nil
}

// isCurrent reports whether lines read from the state in text are those of a state. Checkpoints that a
// partial clone lacked then may have come with a pack.
func isCurrent(w *workspace.Workspace, text string, state *recordState) bool {
	now := state.text()
	return text == now || text == now+lackingPrefix+packs(w)
}

// lackingPrefix begins the state of git's packs when a checkpoint was not in this clone.
const lackingPrefix = "lacking with packs "

func oidsOf(commits []git.Commit) []string {
	oids := make([]string, 0, len(commits))
	for _, c := range commits {
		oids = append(oids, string(c.OID))
	}
	return oids
}

// linksOf returns the links in rows, and the commits that have none.
func linksOf(rows []index.DerivedLink, commits []git.Commit) (links map[git.OID][]DerivedLink, missing []git.Commit) {
	known := map[string]bool{}
	links = map[git.OID][]DerivedLink{}
	for _, row := range rows {
		if known[row.Commit] = true; row.Checkpoint != "" {
			oid := git.OID(row.Commit)
			links[oid] = append(links[oid], DerivedLink{checkpoint.ID(row.Checkpoint), row.Lines})
		}
	}
	return links, slices.DeleteFunc(slices.Clone(commits), func(c git.Commit) bool { return known[string(c.OID)] })
}

// deriveLinks finds the links that the index lacks, and writes them.
func (r *run) deriveLinks(ctx context.Context, state *recordState, commits []git.Commit) (map[git.OID][]DerivedLink, error) {
	if err := r.recordedLines(ctx, state); err != nil {
		return nil, err
	}
	rows, err := r.w.Checkpoints.Derived(ctx, oidsOf(commits))
	if err != nil {
		return nil, err
	}
	links, missing := linksOf(rows, commits)
	if len(missing) == 0 {
		return links, nil
	}
	records, err := r.w.Checkpoints.Lines(ctx)
	if err != nil {
		return nil, err
	}
	d := newDeriving(r.Workspace, state.Records, records)
	if links, err = d.all(ctx, missing, links); err != nil {
		return nil, err
	}
	for _, c := range missing {
		row := index.DerivedLink{Commit: string(c.OID), At: c.Committer.When}
		if len(links[c.OID]) == 0 {
			err = r.w.Checkpoints.PutDerived(ctx, row)
		}
		for _, link := range links[c.OID] {
			row.Checkpoint, row.Lines = string(link.Checkpoint), link.Lines
			err = errors.Join(err, r.w.Checkpoints.PutDerived(ctx, row))
		}
		if err != nil {
			return nil, err
		}
	}
	for _, record := range d.printed { // those that were read from blobs or transcripts
		if err := r.w.Checkpoints.PutLines(ctx, record.CommitLines); err != nil {
			return nil, err
		}
	}
	return links, nil
}

// derived finds the links of the commits that branches have and that name no checkpoint, if branches or
// checkpoints have changed since the last run, and adds them to the commits in the index.
func (r *run) derived(ctx context.Context) error {
	state, err := readRecords(ctx, r.Workspace)
	if err != nil || state.empty() {
		return err
	}
	var tips []git.OID
	if err := r.meta(ctx, tipsKey, &tips); err != nil {
		return err
	}
	notes, err := r.w.Meta(ctx, notesKey)
	if err != nil {
		return err
	}
	now := state.text() + treesText(tips) + notes
	if before, err := r.w.Meta(ctx, derivedKey); err != nil || before == now || len(tips) == 0 {
		return err
	}
	if err := r.recordedLines(ctx, &state); err != nil {
		return err
	}
	records, err := r.w.Checkpoints.Lines(ctx)
	if err != nil || len(records) == 0 {
		return err
	}
	args := []string{"--no-merges", "--max-count=" + strconv.Itoa(mostDerived), "--since=" + records[0].At.Add(-clockSlack).Format(time.RFC3339)}
	for _, tip := range tips {
		args = append(args, string(tip))
	}
	list, err := git.Commits(ctx, r.Repo, append(args, "--")...)
	if err != nil {
		if ctx.Err() == nil {
			r.skip(ctx, "commits without links", err) // a history that lacks objects
			return nil
		}
		return err
	}
	list = slices.DeleteFunc(list, func(c git.Commit) bool { return len(checkpoint.IDsOf(c)) > 0 || checkpoint.IsDeclined(c) })
	if list, err = withoutSeen(r.Repo, list); err != nil {
		return err
	}
	links, err := r.deriveLinks(ctx, &state, list)
	if err != nil {
		return err
	}
	for _, c := range list {
		for _, link := range links[c.OID] {
			row := commitRow(c, link.Checkpoint)
			row.Derived = true
			if err := r.w.PutCommit(ctx, row); err != nil {
				return err
			}
		}
	}
	return r.w.SetMeta(ctx, derivedKey, now)
}

// recordedLines updates the lines of checkpoints in the index from the records, and removes the links of
// commits that new checkpoints may be for.
func (r *run) recordedLines(ctx context.Context, state *recordState) error {
	text, err := r.w.Meta(ctx, linesKey)
	if err != nil || isCurrent(r.Workspace, text, state) {
		return err
	}
	was, _, isLacking := strings.Cut(text, lackingPrefix)
	before := treesIn(was)
	packed := packs(r.Workspace) // read first, so that later packs are noticed
	refs, err := r.readRefs(ctx, linesKey, state)
	if err != nil {
		return err
	}
	changed, err := changedRecords(ctx, r.Repo, before, state.trees)
	if errors.Is(err, errReplaced) || isLacking { // all are read again
		if err := errors.Join(r.w.Checkpoints.DropLines(ctx, ""), r.w.Checkpoints.DropDerived(ctx, time.Time{})); err != nil {
			return err
		}
		refs.known = nil
		changed, err = changedRecords(ctx, r.Repo, nil, state.trees)
	}
	if err != nil {
		return err
	}
	for id := range refs.changed() {
		changed[id] = true
	}
	first := time.Time{}
	from := lineSource{state.Records, slices.Sorted(maps.Keys(changed))}
	isLacking, err = readLines(ctx, from, r.progress, func(id checkpoint.ID, rows []index.CommitLines) error {
		if err := r.w.Checkpoints.DropLines(ctx, string(id)); err != nil {
			return err
		}
		for _, row := range rows {
			if first.IsZero() || row.At.Before(first) {
				first = row.At
			}
			if err := r.w.Checkpoints.PutLines(ctx, row); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && !first.IsZero() {
		err = r.w.Checkpoints.DropDerived(ctx, first.Add(-clockSlack))
	}
	if err != nil {
		return err
	}
	text = state.text()
	if isLacking {
		text += lackingPrefix + packed
	}
	return errors.Join(refs.save(ctx, r), r.w.SetMeta(ctx, linesKey, text))
}

// lineSource selects checkpoints of the records.
type lineSource struct {
	records checkpoint.Records
	ids     []checkpoint.ID
}

// readLines calls yield with the lines of each of the checkpoints, none for one that can't be read. It
// returns whether this clone lacks some of them.
func readLines(ctx context.Context, from lineSource, progress Progress, yield func(checkpoint.ID, []index.CommitLines) error) (isLacking bool, err error) {
	done := int64(0)
	err = from.records.ReadAll(ctx, from.ids, func(id checkpoint.ID, c checkpoint.Checkpoint, err error) error {
		progress("lines of checkpoints", done, int64(len(from.ids)))
		done++
		if ctx.Err() != nil {
			return ctx.Err()
		}
		isLacking = isLacking || errors.Is(err, git.ErrMissing) || c.Absent || slices.ContainsFunc(c.Sessions, func(s checkpoint.Stored) bool { return s.Absent })
		if err != nil {
			return yield(id, nil)
		}
		return yield(id, linesOfCheckpoint(id, c))
	})
	return isLacking, err
}

// linesOfCheckpoint returns the lines of the files that the sessions of a checkpoint touched.
func linesOfCheckpoint(id checkpoint.ID, c checkpoint.Checkpoint) []index.CommitLines {
	rows := map[string]index.CommitLines{}
	for _, s := range c.Sessions {
		a, _ := checkpoint.ParseAttribution(s.Meta.Attribution)
		if s.Meta.IsImported() && len(a.Files) == 0 {
			continue
		}
		for _, f := range a.Files {
			added := f.AddedRanges
			if added == "" {
				added = f.AgentRanges
			}
			if prints := checkpoint.ParsePrints(f.Prints); len(prints) != checkpoint.ParseRanges(added).Len() || f.Estimated {
				f.Prints = ""
			}
			own := append(checkpoint.ParseRanges(f.AgentRanges), checkpoint.ParseRanges(rows[string(f.Path)].Own)...) // of all sessions
			slices.SortFunc(own, func(a, b checkpoint.LineRange) int { return a.First - b.First })
			rows[string(f.Path)] = index.CommitLines{
				Checkpoint: string(id), At: s.Meta.CreatedAt, Path: string(f.Path), Blob: string(f.Blob), Added: added, Own: own.String(), Prints: f.Prints,
			}
		}
		for _, name := range s.Meta.FilesTouched {
			if _, known := rows[name]; !known && len(a.Files) == 0 {
				rows[name] = index.CommitLines{Checkpoint: string(id), At: s.Meta.CreatedAt, Path: name}
			}
		}
	}
	return slices.Collect(maps.Values(rows))
}

// lineRecord is a record of lines, with its fingerprints decoded.
type lineRecord struct {
	index.CommitLines

	lines []attribution.PrintedLine
	own   checkpoint.LineRanges
}

func (r *lineRecord) decode() {
	r.own, r.lines = checkpoint.ParseRanges(r.Own), RecordedLines(checkpoint.ParseRanges(r.Added), r.Prints)
}

// RecordedLines returns the lines of a record from their fingerprints, none if it has no fingerprints.
func RecordedLines(added checkpoint.LineRanges, prints string) (lines []attribution.PrintedLine) {
	list := checkpoint.ParsePrints(prints)
	for _, run := range added {
		for n := run.First; n <= run.Last && len(lines) < len(list); n++ {
			lines = append(lines, attribution.PrintedLine{Number: n, Print: list[len(lines)]})
		}
	}
	return lines
}

// LinesIn returns lines of a content.
func LinesIn(content []byte, added checkpoint.LineRanges) (lines []attribution.PrintedLine) {
	number := 0
	for line := range bytes.Lines(content) {
		if number++; added.Has(number) {
			lines = append(lines, attribution.PrintedLine{Number: number, Print: checkpoint.Print(line)})
		}
	}
	return lines
}

// AddPrints adds the fingerprints of the lines of a content.
func AddPrints(to map[uint32]bool, content []byte) {
	for line := range bytes.Lines(content) {
		to[checkpoint.Print(line)] = true
	}
}

// WithCopied returns had with the lines that a commit or its parent has in another file: lines of a record of
// that file that the commit adds elsewhere may be copies of them.
func WithCopied(ctx context.Context, repo *git.Repo, had map[uint32]bool, commit git.Commit, file string) map[uint32]bool {
	all := maps.Clone(had)
	if all == nil {
		all = map[uint32]bool{}
	}
	for _, oid := range append(slices.Clip(commit.Parents[:min(1, len(commit.Parents))]), commit.OID) {
		if o, err := repo.ReadWithin(ctx, string(oid)+":"+file, maxCompared); err == nil { // else it has no such file
			AddPrints(all, o.Data)
		}
	}
	return all
}

// deriving compares commits with the lines of checkpoints.
type deriving struct {
	w       *workspace.Workspace
	records checkpoint.Records
	byPath  map[string][]*lineRecord // the oldest first
	byPrint map[uint32][]*lineRecord
	byBase  map[string][]*lineRecord
	// unread are records without fingerprints, printed those that got them.
	unread  map[*lineRecord]bool
	printed []*lineRecord
	written map[checkpoint.ID]*Written // what the edit tools of its sessions wrote
}

func newDeriving(w *workspace.Workspace, records checkpoint.Records, rows []index.CommitLines) *deriving {
	d := &deriving{
		w: w, records: records, byPath: map[string][]*lineRecord{}, byPrint: map[uint32][]*lineRecord{}, byBase: map[string][]*lineRecord{},
		unread: map[*lineRecord]bool{}, written: map[checkpoint.ID]*Written{},
	}
	for _, row := range rows {
		r := &lineRecord{CommitLines: row}
		r.decode()
		d.byPath[r.Path] = append(d.byPath[r.Path], r)
		d.byBase[path.Base(r.Path)] = append(d.byBase[path.Base(r.Path)], r)
		if len(r.lines) == 0 {
			d.unread[r] = true
		}
		d.addPrints(r)
	}
	return d
}

func (d *deriving) addPrints(r *lineRecord) {
	for _, l := range r.lines {
		if with := d.byPrint[l.Print]; len(with) == 0 || with[len(with)-1] != r {
			d.byPrint[l.Print] = append(with, r)
		}
	}
}

// comparedFile is a file of a commit with the lines that the commit adds.
type comparedFile struct {
	git.FileDiff

	commit git.Commit
	lines  []attribution.PrintedLine
}

// all adds the links of commits to links.
func (d *deriving) all(ctx context.Context, commits []git.Commit, links map[git.OID][]DerivedLink) (map[git.OID][]DerivedLink, error) {
	for part := range slices.Chunk(commits, mostCompared) {
		found, err := d.commits(ctx, part)
		if err != nil {
			return nil, err
		}
		maps.Copy(links, found)
	}
	return links, nil
}

// commits returns the links of commits.
func (d *deriving) commits(ctx context.Context, commits []git.Commit) (map[git.OID][]DerivedLink, error) {
	cut, err := git.ShallowBoundary(d.w.Repo)
	if err != nil {
		return nil, err
	}
	byOID := make(map[git.OID]git.Commit, len(commits))
	oids := make([]git.OID, 0, len(commits))
	for _, c := range commits {
		if !cut[c.OID] { // else it is not known what the commit changes
			byOID[c.OID], oids = c, append(oids, c.OID)
		}
	}
	var files []comparedFile
	var former []git.OID
	for len(oids) > 0 {
		done := 0
		err := git.Patches(ctx, d.w.Repo, oids, maxCompared, func(oid git.OID, patches []git.Patch) error {
			done++
			for _, p := range patches {
				f := comparedFile{FileDiff: p.FileDiff, commit: byOID[oid]}
				f.lines, _ = AddedLines(p)
				if len(f.lines) > 0 {
					files, former = append(files, f), append(former, p.Old)
				}
			}
			return nil
		})
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			done++ // this clone lacks objects of the commit
		}
		oids = oids[min(done, len(oids)):]
	}
	had := map[git.OID]map[uint32]bool{}
	if err := readPrints(ctx, d.w.Repo, former, had); err != nil {
		return nil, err
	}
	found := map[git.OID]map[string]int{}
	for i := range files {
		f := &files[i]
		for record, lines := range d.file(ctx, f, had[f.Old]) {
			if found[f.commit.OID] == nil {
				found[f.commit.OID] = map[string]int{}
			}
			found[f.commit.OID][record.Checkpoint] += lines
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	links := map[git.OID][]DerivedLink{}
	for oid, counts := range found {
		for _, r := range d.inOrder(counts) {
			links[oid] = append(links[oid], DerivedLink{checkpoint.ID(r), counts[r]})
		}
	}
	return links, nil
}

// inOrder returns checkpoints in the order in which they were written.
func (d *deriving) inOrder(counts map[string]int) []string {
	at := map[string]time.Time{}
	for _, list := range d.byPath {
		for _, r := range list {
			if counts[r.Checkpoint] > 0 {
				at[r.Checkpoint] = r.At
			}
		}
	}
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if n := at[a].Compare(at[b]); n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
}

// AddedLines returns the lines that a patch adds, and their texts.
func AddedLines(p git.Patch) (lines []attribution.PrintedLine, texts []string) {
	for i, h := range p.Hunks {
		if i >= len(p.Texts) {
			break
		}
		n := h.New
		for _, text := range p.Texts[i] {
			switch {
			case strings.HasPrefix(text, "+"):
				lines, texts = append(lines, PrintedLine(n, text[1:])), append(texts, text[1:])
				n++
			case !strings.HasPrefix(text, "-"):
				n++
			}
		}
	}
	return lines, texts
}

// PrintedLine returns a line of a file by its number, from 1.
func PrintedLine(number int, text string) attribution.PrintedLine {
	return attribution.PrintedLine{Number: number, Print: checkpoint.Print([]byte(text)), Letters: attribution.Identifying(text)}
}

// readPrints adds the fingerprints of the lines of blobs to a map by blob. Blobs that are missing are
// left out.
func readPrints(ctx context.Context, repo *git.Repo, blobs []git.OID, into map[git.OID]map[uint32]bool) error {
	blobs = slices.DeleteFunc(slices.Clone(blobs), func(oid git.OID) bool { return into[oid] != nil || !repo.Format.Valid(oid) })
	slices.Sort(blobs)
	return repo.ReadMany(ctx, slices.Compact(blobs), func(o git.Object) error {
		into[o.OID] = map[uint32]bool{}
		AddPrints(into[o.OID], o.Data)
		return nil
	})
}

// file returns the records whose lines a commit adds to a file, with the numbers of these lines. had are
// the lines of the former file.
func (d *deriving) file(ctx context.Context, f *comparedFile, had map[uint32]bool) map[*lineRecord]int {
	found := map[*lineRecord]int{}
	isOlder := func(r *lineRecord) bool { return !r.At.After(f.commit.Committer.When.Add(clockSlack)) }
	unread := 0
	for _, name := range slices.Compact([]string{f.Path, f.OldPath}) {
		for _, r := range slices.Backward(d.byPath[name]) {
			if found[r] > 0 || !isOlder(r) {
				continue
			}
			if d.unread[r] {
				if unread++; unread > mostUnprinted {
					continue
				}
				d.print(ctx, r)
			}
			if n := countFollowed(r, f, had, true); n > 0 {
				found[r] = n
			}
		}
	}
	for _, r := range d.elsewhere(f) {
		if _, known := found[r]; known || !isOlder(r) || r.Path == f.Path || r.Path == f.OldPath {
			continue
		}
		before := WithCopied(ctx, d.w.Repo, had, f.commit, r.Path)
		if n := countFollowed(r, f, before, path.Base(r.Path) == path.Base(f.Path)); n > 0 {
			found[r] = n
		}
	}
	return found
}

// elsewhere returns the records of files of other names that have enough lines of a file.
func (d *deriving) elsewhere(f *comparedFile) []*lineRecord {
	letters := map[*lineRecord]int{}
	for _, l := range f.lines {
		if l.Letters == 0 {
			continue
		}
		for _, r := range d.byPrint[l.Print] {
			letters[r] += l.Letters
		}
	}
	const least = 20
	maps.DeleteFunc(letters, func(_ *lineRecord, n int) bool { return n < least })
	return slices.SortedFunc(maps.Keys(letters), func(a, b *lineRecord) int {
		return strings.Compare(a.Checkpoint+a.Path, b.Checkpoint+b.Path)
	})
}

// countFollowed returns the number of lines that can identify their writer, that a session wrote
// according to a record, and that are in a file.
func countFollowed(r *lineRecord, f *comparedFile, had map[uint32]bool, sameName bool) (n int) {
	isSame := r.Blob != "" && r.Blob == string(f.New)
	isEqual := sameName && equalPrints(r.lines, f.lines)
	var followed []attribution.Followed
	if !isSame && !isEqual {
		followed = attribution.FollowPrints(r.lines, f.lines, had, attribution.Evidence{SameName: sameName})
	}
	for i, l := range f.lines {
		number := l.Number
		switch {
		case l.Letters == 0:
			continue
		case isEqual:
			number = r.lines[i].Number
		case !isSame:
			number = followed[i].Number
		}
		if r.own.Has(number) {
			n++
		}
	}
	return n
}

// equalPrints reports whether two files have the same added lines.
func equalPrints(a, b []attribution.PrintedLine) bool {
	return len(a) > 0 && slices.EqualFunc(a, b, func(x, y attribution.PrintedLine) bool { return x.Print == y.Print })
}

// print adds the fingerprints that a record lacks: those of its blob's lines, else those of the lines
// that the edit tools of the checkpoint's sessions wrote to the file.
func (d *deriving) print(ctx context.Context, r *lineRecord) {
	delete(d.unread, r)
	if o, err := d.w.Repo.ReadWithin(ctx, r.Blob, maxCompared); r.Blob != "" && err == nil {
		r.lines = LinesIn(o.Data, checkpoint.ParseRanges(r.Added))
	} else {
		r.lines = d.writtenBy(ctx, checkpoint.ID(r.Checkpoint)).Lines(r.Path)
	}
	if len(r.lines) == 0 {
		return
	}
	var added checkpoint.LineRanges
	prints := make([]uint32, 0, len(r.lines))
	for _, l := range r.lines {
		added, prints = added.With(l.Number), append(prints, l.Print)
	}
	r.Added, r.Prints = added.String(), checkpoint.FormatPrints(prints)
	if r.Own == "" { // of a checkpoint that records no lines
		r.own, r.Own = added, r.Added
	}
	d.printed = append(d.printed, r)
	d.addPrints(r)
}

// writtenBy returns the lines that the edit tools of a checkpoint's sessions wrote.
func (d *deriving) writtenBy(ctx context.Context, id checkpoint.ID) *Written {
	if written := d.written[id]; written != nil {
		return written
	}
	written := &Written{}
	d.written[id] = written
	if c, err := d.records.Read(ctx, id); err == nil {
		for _, s := range c.Sessions {
			t, err := checkpoint.UnhashedTranscript(ctx, d.w.Repo, s.Dir)
			if err != nil {
				continue
			}
			events := transcript.Events{Subagents: true}
			err = t.Lines(ctx, d.w.Repo, checkpoint.LineSpan{To: s.Meta.TranscriptEnd}, func(line []byte, _ int) error {
				if e, ok := events.Line(line); ok {
					written.Add(e)
				}
				return nil
			})
			if err != nil {
				d.w.Log.DebugContext(ctx, "transcript not compared", "checkpoint_id", string(id), "error", d.w.Redact.Text(err.Error()))
			}
		}
	}
	return written
}

// Written holds the lines that edit tools wrote, by the file as passed to the tool. They are numbered in
// the order in which they were written, with gaps between calls. The zero value is empty.
type Written struct {
	files map[string][]attribution.PrintedLine
	lines int
}

// Add adds the lines that the edit tools of an event wrote.
func (w *Written) Add(e *transcript.Event) {
	for i := range e.Uses {
		name, texts := e.Uses[i].Written()
		for _, text := range texts {
			for line := range strings.Lines(text) {
				if w.files == nil {
					w.files = map[string][]attribution.PrintedLine{}
				}
				w.lines++
				w.files[name] = append(w.files[name], PrintedLine(w.lines, line))
			}
			w.lines++
		}
	}
}

// Lines returns the lines that were written to a file, given by its path relative to the root.
func (w *Written) Lines(file string) (lines []attribution.PrintedLine) {
	for name, written := range w.files {
		if name == file || strings.HasSuffix(name, "/"+file) {
			lines = append(lines, written...)
		}
	}
	slices.SortFunc(lines, func(a, b attribution.PrintedLine) int { return a.Number - b.Number })
	return lines
}
