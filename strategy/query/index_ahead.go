package query

import (
	"context"
	"runtime"
	"sync"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// reading is the part of a slot's transcript that is read for the index.
type reading struct {
	stored checkpoint.StoredTranscript
	// err is the error of stored or of the transcript.
	err error
	// whole reports that the transcript was read. It was read from the last turn that the index had
	// at the place at, if that is at the same line of this transcript, else from its beginning.
	whole bool
	at    place
	// drafts are the turns from the line from on, lines is the number of the transcript's lines.
	drafts      []*turnDraft
	from, lines int
	// title and titled are the session's title in the lines that were read, and its kind.
	title  string
	titled transcript.TitleKind
}

// transcript reads the turns of a slot from a place on.
func (rd *reading) transcript(ctx context.Context, repo *git.Repo, s *indexedSlot, at place) {
	span := func(span checkpoint.LineSpan) {
		t := turnReader{session: s.session, here: repo.Root, model: s.Meta.Model, known: s.Meta.FilesTouched}
		if span.From > 0 {
			t.origin = at.Origin
		}
		rd.lines = 0
		rd.err = rd.stored.Lines(ctx, repo, span, func(line []byte, n int) error {
			t.line(line, n, 0)
			rd.lines = n + 1
			return nil
		})
		rd.drafts, rd.title, rd.titled = t.finished(), t.title, t.titled
	}
	rd.whole, rd.at, rd.from, rd.err = true, at, 0, nil
	if total := s.Meta.TranscriptLines; at.Line > 0 && total > at.Line {
		rd.from = at.Line
		span(checkpoint.LineSpan{From: rd.from, Total: total})
	}
	if rd.err == nil && (rd.from == 0 || len(rd.drafts) == 0 || rd.drafts[0].Key != at.Key) {
		rd.from = 0
		span(checkpoint.LineSpan{})
	}
}

// next returns the place from which the next transcript of the session is read.
func (rd *reading) next(at place) place {
	if rd.err != nil || len(rd.drafts) == 0 || at.Lines > rd.lines {
		return at
	}
	last := rd.drafts[len(rd.drafts)-1]
	return place{Line: last.Line, Key: last.Key, Lines: rd.lines, Live: at.Live, Origin: last.origin}
}

// group are the slots of a session, in order.
type group struct {
	slots []indexedSlot
	at    place // the place in the index before the first of them
	read  chan reading
}

// putSlots reads the transcripts of slots, those of several sessions concurrently, and writes them
// in order. Each reader keeps at most one reading in memory.
func (r *run) putSlots(ctx context.Context, slots []indexedSlot) error {
	total := int64(len(slots))
	var groups []group
	for len(slots) > 0 {
		n := 1
		for n < len(slots) && slots[n].session == slots[0].session {
			n++
		}
		had, _, err := r.w.FindSession(ctx, slots[0].session)
		if err != nil {
			return err
		}
		groups = append(groups, group{slots: slots[:n], at: decodePlace(had.Cursor), read: make(chan reading)})
		slots = slots[n:]
	}
	var readers sync.WaitGroup
	defer readers.Wait()
	ahead, stop := context.WithCancel(ctx)
	defer stop()
	work := make(chan group, len(groups))
	for _, g := range groups {
		work <- g
	}
	close(work)
	for range max(1, runtime.GOMAXPROCS(0)-1) {
		readers.Go(func() {
			for g := range work {
				if !g.readAll(ahead, r.Repo) {
					return
				}
			}
		})
	}
	done := int64(0)
	for _, g := range groups {
		for i := range g.slots {
			r.progress("checkpoints", done, total)
			done++
			select {
			case rd := <-g.read:
				if err := r.slot(ctx, g.slots[i], &rd); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := r.done(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// readAll sends the readings of the group's slots. It returns false if ctx ended before.
func (g *group) readAll(ctx context.Context, repo *git.Repo) bool {
	at := g.at
	seen := map[git.OID]bool{}
	for i := range g.slots {
		s := &g.slots[i]
		var rd reading
		rd.stored, rd.err = checkpoint.UnhashedTranscript(ctx, repo, s.Dir)
		covered := true // the index has it by the slots before
		for _, blob := range rd.stored.Segments {
			covered = covered && seen[blob]
			seen[blob] = true
		}
		if rd.err == nil && (!covered || s.Meta.TranscriptLines == 0) {
			rd.transcript(ctx, repo, s, at)
			at = rd.next(at)
		}
		select {
		case g.read <- rd:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
