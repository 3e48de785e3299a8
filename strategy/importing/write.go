package importing

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Kind is the kind of imported sessions in metadata.
const kind = "imported"

// commitID returns the id of the checkpoint of an imported link.
func commitID(commit git.OID) checkpoint.ID { return idOf("entire import commit " + string(commit)) }

// sessionID returns the id of the checkpoint with the part of a session that no commit has.
func sessionID(id string) checkpoint.ID { return idOf("entire import session " + id) }

func idOf(text string) checkpoint.ID {
	const bytes = 6
	sum := sha256.Sum256([]byte(text))
	return checkpoint.ID(hex.EncodeToString(sum[:bytes]))
}

// plan lists the checkpoints of a session.
type plan struct {
	parts []part
	// rest reports that a part of the session, from begin on, is in no commit.
	rest  bool
	begin int
}

// part is the part of a session's transcript that belongs to a commit.
type part struct {
	link     int
	from, to int
	tokens   session.Tokens
	total    session.Tokens // of the session up to the end of the part
	turns    int
}

// plan divides the transcript of each session among its commits: each has the lines since the one before it,
// or since the first turn that wrote lines of it.
func (im *importer) plan() {
	im.plans = make([]plan, len(im.sessions))
	for i, l := range im.links {
		for s, share := range l.shares {
			im.plans[s].parts = append(im.plans[s].parts, part{link: i, from: share.from, to: min(share.to, im.sessions[s].lines)})
		}
	}
	for i, p := range im.sessions {
		one := &im.plans[i]
		slices.SortStableFunc(one.parts, func(a, b part) int {
			return cmp.Or(a.to-b.to, im.links[a.link].commit.Committer.When.Compare(im.links[b.link].commit.Committer.When))
		})
		end, total := p.own, session.Tokens{}
		for k := range one.parts {
			part := &one.parts[k]
			part.tokens = tokens(p.between(end, part.to))
			total = total.Plus(part.tokens)
			part.total = total
			part.from = min(part.from, end)
			end = max(end, part.to)
			part.turns = p.turnsBetween(part.from, part.to)
		}
		if im.states[p.ID] = Imported; im.recorded[p.ID] {
			im.states[p.ID] = Recorded
		}
		one.begin = end
		one.rest = !im.recorded[p.ID] && (len(one.parts) == 0 || p.turnsBetween(end, p.lines) > 0)
	}
}

// between returns the messages between two lines.
func (p *past) between(from, to int) (list []message) {
	for _, m := range p.messages {
		if m.line >= from && m.line < to {
			list = append(list, m)
		}
	}
	return list
}

func (p *past) turnsBetween(from, to int) (n int) {
	for _, t := range p.turns {
		if t.line >= from && t.line < to {
			n++
		}
	}
	return n
}

// order returns the sessions of a link in the order of their slots: the one that wrote most of it last.
func (l *link) order() []int {
	list := make([]int, 0, len(l.shares))
	for s := range l.shares {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b int) int { return cmp.Or(l.shares[a].lines-l.shares[b].lines, a-b) })
	return list
}

// stored is a session whose transcript is stored.
type stored struct {
	transcript checkpoint.StoredTranscript
	prompts    checkpoint.WrittenPrompts
	lines      int
	titles     map[int]string // of turns, redacted, by line
	redactor   workspace.Redactor
}

// batchSize and batchSessions bound the sessions that are stored before their checkpoints are written: their
// size in bytes, and their number.
const (
	batchSize     = 128 << 20
	batchSessions = 1000
)

// unstored returns the sessions that have to be stored: those whose files have changed since they were
// imported, those that lack a checkpoint, and those that have a commit in common with one of these.
func (im *importer) unstored(ctx context.Context) (list []int, err error) {
	records, err := im.w.Records(ctx)
	if err != nil {
		return nil, err
	}
	all, err := records.Find(ctx, "")
	if err != nil {
		return nil, err
	}
	exists := make(map[checkpoint.ID]bool, len(all))
	for _, id := range all {
		exists[id] = true
	}
	isNew := make([]bool, len(im.sessions))
	for s, p := range im.sessions {
		isStored := im.register.Files[p.ID] == p.Stamp
		if isStored && im.states[p.ID] == Imported {
			im.states[p.ID] = Known
		}
		if im.plans[s].rest {
			isStored = isStored && exists[sessionID(p.ID)]
		}
		for _, part := range im.plans[s].parts {
			commit := im.links[part.link].commit
			isStored = isStored && exists[commitID(commit.OID)] && len(checkpoint.IDsOf(commit)) > 0
		}
		isNew[s] = !isStored
	}
	again := slices.Clone(isNew)
	for _, l := range im.links { // each slot of a commit depends on its other sessions
		if slices.ContainsFunc(l.order(), func(s int) bool { return isNew[s] }) {
			for s := range l.shares {
				again[s] = true
			}
		}
	}
	for s, isStoredAgain := range again {
		if isStoredAgain {
			list = append(list, s)
		}
	}
	return list, nil
}

// write writes the checkpoints and the notes of the commits.
func (im *importer) write(ctx context.Context) error {
	sessions, err := im.unstored(ctx)
	if err != nil {
		return err
	}
	isNew := make([]bool, len(im.sessions))
	total, read := int64(0), int64(0)
	for _, s := range sessions {
		isNew[s] = true
		total += im.sessions[s].Size
	}
	waiting := make([]int, len(im.links)) // sessions of the link that aren't stored yet
	for i, l := range im.links {
		for s := range l.shares {
			if isNew[s] {
				waiting[i]++
			}
		}
	}
	done := make([]*stored, len(im.sessions))
	for len(sessions) > 0 {
		n, size := 0, int64(0)
		for n < min(len(sessions), batchSessions) && (n == 0 || size < batchSize) {
			size += im.sessions[sessions[n]].Size
			n++
		}
		part := sessions[:n]
		sessions = sessions[n:]
		err := im.w.Repo.WriteTogether(git.LargeBatch, func() error {
			redactions := im.w.Redactions()
			err := im.store(ctx, part, done, func(size int64) {
				read += size
				im.Progress(Storing, read, total)
			})
			if err != nil {
				return err
			}
			var ready []int
			for _, s := range part {
				for _, one := range im.plans[s].parts {
					if waiting[one.link]--; waiting[one.link] == 0 {
						ready = append(ready, one.link)
					}
				}
			}
			slices.Sort(ready)
			changes, err := im.changes(ctx, part, ready, done)
			if err != nil {
				return err
			}
			return im.commit(ctx, redactions, changes, ready)
		})
		if err != nil {
			return err
		}
		if err := im.remember(part); err != nil {
			return err
		}
	}
	return nil
}

// store stores the transcripts of sessions. progress is called with the size of each.
func (im *importer) store(ctx context.Context, sessions []int, done []*stored, progress func(size int64)) error {
	var mu sync.Mutex // guards progress
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, s := range sessions {
		group.Go(func() error {
			one, err := im.storeSession(within, im.sessions[s])
			if err != nil {
				return fmt.Errorf("import session %s: %w", im.sessions[s].ID, err)
			}
			done[s] = one
			mu.Lock()
			defer mu.Unlock()
			progress(im.sessions[s].Size)
			return nil
		})
	}
	return group.Wait()
}

// storeSession stores the transcript of a session, redacted.
func (im *importer) storeSession(ctx context.Context, p *past) (*stored, error) {
	one := &stored{titles: map[int]string{}, redactor: im.w.FreshRedactor()}
	writer := checkpoint.SegmentWriter{Repo: im.w.Repo, LineTimeout: im.w.Options.LineTimeout}
	keeping := &promptKeeper{Redactor: one.redactor, ctx: ctx, p: p, titles: one.titles}
	var err error
	one.transcript, one.lines, err = writer.Store(ctx, keeping, func(add func(line []byte) error) error {
		n := 0
		err := p.Lines(ctx, func(line []byte) error {
			if n == p.lines {
				return errEnd // it has grown since
			}
			n++
			return add(line)
		})
		if err == errEnd || err == nil && n == p.lines { //nolint:errorlint // it is not wrapped
			return nil
		}
		return cmp.Or(err, errChanged)
	})
	if err != nil {
		return nil, err
	}
	for i, text := range keeping.prompts {
		keeping.prompts[i] = one.redactor.Text(text)
	}
	for line, title := range one.titles {
		one.titles[line] = checkpoint.FirstPrompt(one.redactor.Text(title))
	}
	one.prompts, err = checkpoint.WritePrompts(im.w.Repo, keeping.prompts)
	return one, err
}

// mostPrompt is the number of bytes of a prompt that are stored beside the transcript.
const mostPrompt = 64 << 10

// promptKeeper is a redactor that keeps the redacted prompts of a transcript.
type promptKeeper struct {
	workspace.Redactor

	ctx     context.Context //nolint:containedctx // of the store
	p       *past
	n, next int
	prompts []string
	titles  map[int]string
	events  transcript.Events
}

// LineContext redacts the next line of the transcript.
func (k *promptKeeper) LineContext(ctx context.Context, line []byte) ([]byte, error) {
	n := k.n
	k.n++
	out, err := k.Redactor.LineContext(ctx, line)
	if k.next >= len(k.p.turns) || n != k.p.turns[k.next].line {
		return out, err
	}
	k.next++
	if err != nil {
		return out, err
	}
	if e, ok := k.events.Line(out); ok {
		k.titles[n] = strings.Clone(e.Title())
		if e.Prompt != "" {
			k.prompts = append(k.prompts, strings.Clone(plain.Head(e.Prompt, mostPrompt)))
		}
	}
	return out, nil
}

// Line is LineContext without a deadline.
func (k *promptKeeper) Line(line []byte) []byte {
	out, err := k.LineContext(context.WithoutCancel(k.ctx), line)
	if err != nil {
		return nil
	}
	return out
}

// changes returns the changes that write the checkpoints of sessions and of links. A slot of a session that was
// stored before is left as it is.
func (im *importer) changes(ctx context.Context, sessions, links []int, done []*stored) ([]checkpoint.Change, error) {
	var changes []dated
	for _, s := range sessions {
		p := im.sessions[s]
		if !im.plans[s].rest && !im.recorded[p.ID] { // an earlier import may have left a part
			changes = append(changes, dated{p.last, []checkpoint.Change{{ID: sessionID(p.ID), Imported: true, Next: func(context.Context, checkpoint.Present) (git.OID, string, error) {
				return "", "Remove imported checkpoint " + string(sessionID(p.ID)) + "\n", nil
			}}}})
		}
		if im.plans[s].rest {
			changes = append(changes, dated{p.last, []checkpoint.Change{im.change(sessionID(p.ID), im.restSlot(s, done[s]), p.first)}})
		}
	}
	for _, i := range links {
		l := im.links[i]
		one := dated{at: l.commit.Committer.When}
		for n, s := range l.order() {
			if done[s] == nil {
				continue
			}
			slot, err := im.linkSlot(l, i, s, n == 0, done[s])
			if err != nil {
				return nil, err
			}
			one.changes = append(one.changes, im.change(commitID(l.commit.OID), slot, im.sessions[s].first))
		}
		changes = append(changes, one)
	}
	slices.SortStableFunc(changes, func(a, b dated) int { return a.at.Compare(b.at) })
	var list []checkpoint.Change
	for _, d := range changes {
		list = append(list, d.changes...)
	}
	return list, ctx.Err()
}

// dated are the changes of a checkpoint.
type dated struct {
	at      time.Time
	changes []checkpoint.Change
}

// change returns the change that writes a slot.
func (im *importer) change(id checkpoint.ID, slot checkpoint.Slot, started time.Time) checkpoint.Change {
	info := checkpoint.SummaryInfo{Branch: slot.Meta.Branch, CLIVersion: im.w.Env.Version, Strategy: im.w.StrategyName()}
	return checkpoint.Change{ID: id, Imported: true, Next: func(ctx context.Context, at checkpoint.Present) (git.OID, string, error) {
		dir, err := checkpoint.Put(ctx, im.w.Repo, at, id, slot, info)
		return dir, checkpoint.ImportedMessage(id, slot.Meta, started), err
	}}
}

// slot returns the part of a session's slot that all its checkpoints share.
func (im *importer) slot(p *past, one *stored) checkpoint.Slot {
	r := one.redactor
	meta := checkpoint.SessionMeta{
		CLIVersion: im.w.Env.Version, SessionID: p.ID, Strategy: im.w.StrategyName(), Agent: p.Agent.Label, Model: modelName(r.Path(p.model)),
		Branch: r.Path(p.branch), TranscriptLines: one.lines, RedactionRules: redact.RulesVersion, Kind: kind,
	}
	if !p.Agent.HandsOver() && strings.HasSuffix(p.Path, ".jsonl") {
		meta.TranscriptPath = checkpoint.RelTranscript(im.w.Env.Home, p.Path)
	}
	return checkpoint.Slot{Transcript: one.transcript, Written: one.prompts, Meta: meta}
}

// modelName returns the name of a model, "" if it isn't one word.
func modelName(name string) string {
	const most = 100
	if len(name) > most || checkpoint.OneLine(name) != name || strings.Contains(name, " ") {
		return ""
	}
	return name
}

// restSlot returns the slot of a session with the part that no commit has.
func (im *importer) restSlot(s int, one *stored) checkpoint.Slot {
	p, pl := im.sessions[s], im.plans[s]
	slot := im.slot(p, one)
	m := &slot.Meta
	m.CreatedAt, m.CheckpointsCount = p.last.UTC(), p.turnsBetween(pl.begin, p.lines)
	m.TranscriptStart = pl.begin
	used, total := tokens(p.between(pl.begin, p.lines)), tokens(p.messages)
	m.TokenUsage, m.SessionTokenUsage = &used, &total
	m.FilesTouched = im.touched(p, pl.begin)
	return slot
}

// touched returns the files that the calls of a session wrote from a line on.
func (im *importer) touched(p *past, from int) (names []string) {
	for name, line := range p.touched {
		if line >= from {
			names = append(names, im.w.Redact.Path(name))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// linkSlot returns the slot of a session in the checkpoint of a commit. The first slot also has the lines
// whose writer isn't known.
func (im *importer) linkSlot(l *link, index, s int, isFirst bool, one *stored) (checkpoint.Slot, error) {
	p := im.sessions[s]
	slot := im.slot(p, one)
	at := slices.IndexFunc(im.plans[s].parts, func(part part) bool { return part.link == index })
	part := im.plans[s].parts[at]
	m := &slot.Meta
	m.CreatedAt, m.CheckpointsCount = l.commit.Committer.When.UTC(), part.turns
	m.TranscriptStart, m.TranscriptEnd = part.from, part.to
	if !im.recorded[p.ID] {
		m.TokenUsage, m.SessionTokenUsage = &part.tokens, &part.total
	}
	a, title := im.attribution(l, s, isFirst, one)
	m.Title = title
	for _, f := range a.Files {
		if f.AgentRanges != "" {
			m.FilesTouched = append(m.FilesTouched, string(f.Path))
		}
	}
	raw, err := a.Bounded()
	m.Attribution = raw
	return slot, err
}

// attribution returns the lines of a commit that a session wrote, and the title of the turn that wrote most of
// them. What a commit removes isn't counted: nothing shows who removed it.
func (im *importer) attribution(l *link, s int, isFirst bool, one *stored) (checkpoint.Attribution, string) {
	p := im.sessions[s]
	r := lineRecorder{past: p, session: s, isFirst: isFirst, titles: one.titles, turns: map[int]int{}, writers: map[int32]int{}, lines: map[int]int{}}
	a := &r.Attribution
	a.CalculatedAt, a.SessionLines, a.AgentLines = l.commit.Committer.When.UTC(), l.shares[s].lines, l.lines
	for i := range l.files {
		f := &l.files[i]
		a.TotalCommitted += len(f.added)
		if record, some := r.file(f); some {
			record.Path = session.Path(one.redactor.Path(f.Path))
			a.Files = append(a.Files, record)
		}
	}
	a.UnknownLines = a.TotalCommitted - l.lines
	if a.TotalCommitted > 0 {
		const percent = 100
		a.AgentPercentage = float64(l.lines) / float64(a.TotalCommitted) * percent
	}
	return *a, r.title()
}

// lineRecorder records the lines of a commit that a session wrote.
type lineRecorder struct {
	checkpoint.Attribution

	past    *past
	session int
	// isFirst reports that it also records the lines whose writer isn't known.
	isFirst bool
	titles  map[int]string // of turns, by their lines
	// turns and writers are indexes in the attribution, by turn and by call. lines counts the lines of turns.
	turns   map[int]int
	writers map[int32]int
	lines   map[int]int
}

// file returns the record of a file, false if it has no lines of the session, or of any for the first one.
func (r *lineRecorder) file(f *linkedFile) (record checkpoint.FileAttribution, some bool) {
	var own, all, unsure checkpoint.LineRanges
	written := map[int]checkpoint.LineRanges{}
	prints := make([]uint32, 0, len(f.added))
	texts := make([][]byte, 0, len(f.added))
	for i, line := range f.added {
		all, prints, texts = all.With(line.Number), append(prints, line.Print), append(texts, []byte(f.texts[i]+"\n"))
		by := f.by[i]
		some = some || by.session >= 0
		switch {
		case by.session == r.session:
			own = own.With(line.Number)
			writer := r.writer(by.call)
			written[writer] = written[writer].With(line.Number)
		case by.session < 0 && r.isFirst:
			unsure = unsure.With(line.Number)
		}
	}
	record = checkpoint.FileAttribution{
		Blob: f.New, AgentRanges: own.String(), Unsure: unsure.String(),
		Patch: checkpoint.PatchID(texts), Prints: checkpoint.FormatPrints(prints), Written: checkpoint.FormatWritten(written),
	}
	if text := all.String(); text != record.AgentRanges {
		record.AddedRanges = text
	}
	return record, some && len(own)+len(unsure) > 0
}

// writer returns the index of a call among the writers, and counts a line of it.
func (r *lineRecorder) writer(id int32) int {
	c := r.past.calls[id]
	if c.turn >= 0 {
		r.lines[c.turn]++
	}
	if writer, known := r.writers[id]; known {
		return writer
	}
	turn := checkpoint.NoTurn
	if c.turn >= 0 {
		if _, known := r.turns[c.turn]; !known {
			r.turns[c.turn] = len(r.Turns)
			line := r.past.turns[c.turn].line
			r.Turns = append(r.Turns, checkpoint.Turn{Line: line, Title: r.titles[line]})
		}
		turn = r.turns[c.turn]
	}
	r.writers[id] = len(r.Writers)
	r.Writers = append(r.Writers, checkpoint.Writer{Turn: turn, Call: toolID(c.id), Subagent: toolID(c.subagent)})
	return r.writers[id]
}

// title returns the title of the turn that wrote most lines, of equal ones the last.
func (r *lineRecorder) title() (title string) {
	most := 0
	for _, turn := range slices.Sorted(maps.Keys(r.lines)) {
		if text := r.titles[r.past.turns[turn].line]; text != "" && r.lines[turn] >= most {
			most, title = r.lines[turn], text
		}
	}
	return title
}

func toolID(id string) string {
	if transcript.IsToolID(id) {
		return id
	}
	return ""
}

// commit writes the checkpoints, and the notes of their commits, in one transaction.
func (im *importer) commit(ctx context.Context, redactions int, changes []checkpoint.Change, links []int) error {
	by, err := im.w.Identity(ctx)
	if err != nil {
		return err
	}
	texts := map[git.OID]string{}
	for _, i := range links {
		c := im.links[i].commit
		if text := checkpoint.ImportedText([]checkpoint.ID{commitID(c.OID)}); c.Note != text {
			texts[c.OID] = text
		}
	}
	defer im.w.Repo.Notes.Reset()
	return im.w.WithLock(ctx, func() error {
		if im.w.Redactions() != redactions {
			return errForgotten
		}
		var extra []git.RefChange
		if len(texts) > 0 {
			notes, err := git.NotesChange(ctx, im.w.Repo, git.ImportedNotesRef, by, texts)
			if err != nil {
				return err
			}
			extra = append(extra, notes)
		}
		return im.w.UpdateRecords(ctx, changes, extra...)
	})
}

// errForgotten means that something was forgotten while sessions were stored.
var errForgotten = errors.New("something was forgotten meanwhile: run the import again")

// errEnd ends the reading of a transcript.
var errEnd = errors.New("end of the transcript")
