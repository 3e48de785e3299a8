// Package retention removes snapshots and what only they need: by age and number, by
// the cap, or by name. It also compacts bands and measures what snapshots take.
// Snapshots that the history of restores needs are kept.
package retention

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/history"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Policy is what Prune goes by.
type Policy struct {
	// Now is the time, in the location whose days count.
	Now time.Time
	// Keep is how many automatic snapshots stay in each lineage. 0 is the
	// store's own retention: all of today's, one an hour for seven days before,
	// then one a day.
	Keep int
	// Cap is how many bytes the store may take: above it the oldest automatic
	// snapshots go, then the oldest that are paired with a commit. 0 for none.
	Cap int64
	// DryRun finds out what would go.
	DryRun bool
	// Progress is called with how many snapshots are read, unless it is nil.
	Progress func(done, total int64)
}

// read reports how many snapshots are read.
func (p Policy) read(done, total int) {
	if p.Progress != nil {
		p.Progress(int64(done), int64(total))
	}
}

// Pruned is what Prune did, or with DryRun would do.
type Pruned struct {
	Versions []bands.Version `json:"versions"` // those removed, ascending
	Before   int64           `json:"before"`   // what the store took
	Freed    int64           `json:"freed"`    // of a dry run about
}

// Prune removes the snapshots that the policy has no place for and gives their
// room back. Snapshots that the user asked for, rescues of the last seven days,
// the latest of each lineage and what an interrupted restore needs always stay,
// and so does whatever can't be read. The rows of what was removed are the
// caller's (Registry.Forget).
func Prune(ctx context.Context, h *bands.Held, p Policy) (Pruned, error) {
	before, err := h.Size()
	if err != nil {
		return Pruned{}, fmt.Errorf("measure store: %w", err)
	}
	snaps, _ := h.Snapshots() // one that can't be read stays
	w := pruning{Held: h, policy: p, snaps: snaps, worth: ranks(snaps, p.Now, needed(h)), size: before}
	if p.DryRun {
		gone := thin(snaps, w.worth, p)
		if w.over() {
			w.leave(gone)
			more, _, err := w.fit(ctx, p.Cap/100*roomPercent)
			if err != nil {
				return Pruned{}, err
			}
			w.snaps = snaps
			gone = slices.Concat(gone, more)
			slices.Sort(gone)
		}
		frees, err := w.frees(ctx, gone)
		return Pruned{Versions: gone, Before: before, Freed: frees}, err
	}
	err = w.run(ctx)
	return Pruned{Versions: w.gone, Before: before, Freed: max(before-w.size, 0)}, err
}

// Aged are the snapshots that the policy has no place for by their age and number,
// whatever the store takes.
func Aged(snaps []bands.Snapshot, p Policy) []bands.Version {
	return thin(snaps, ranks(snaps, p.Now, nil), p)
}

// MakeRoom is Prune where a snapshot found none: it goes on until an eighth of
// the cap is free, as what the snapshot needs isn't known.
func MakeRoom(ctx context.Context, h *bands.Held, p Policy) (Pruned, error) {
	const part = 8
	p.Cap -= p.Cap / part
	return Prune(ctx, h, p)
}

// needed are the versions that an interrupted restore needs.
func needed(h *bands.Held) map[bands.Version]bool {
	list := map[bands.Version]bool{}
	for _, lineage := range history.Lineages(h.Store) {
		if j, err := history.ReadJournal(h.Store, lineage); err == nil && j != nil {
			list[j.Target], list[j.Rescue], list[j.Changed] = true, true, true
		}
	}
	return list
}

// pruning is the work of Prune.
type pruning struct {
	*bands.Held
	policy Policy
	snaps  []bands.Snapshot // that are left
	worth  map[bands.Version]rank
	gone   []bands.Version
	size   int64 // what the store takes now
}

const (
	// roomPercent is how much of the cap may be taken after a prune, so that not
	// every snapshot needs the next.
	roomPercent = 90
	// rounds is how often pruning for the cap tries: what a removal gives back
	// is not known before.
	rounds = 4
)

func (w *pruning) over() bool { return w.policy.Cap > 0 && w.size > w.policy.Cap }

// frees is about what the removal of these gives back: what only they need.
func (w *pruning) frees(ctx context.Context, gone []bands.Version) (sum int64, err error) {
	l := newLedger(w.Store, countLive)
	defer l.close()
	done := 0
	for _, removed := range []bool{false, true} { // what stays comes first
		for _, snap := range w.snaps {
			if slices.Contains(gone, snap.Version) != removed {
				continue
			}
			w.policy.read(done, len(w.snaps))
			done++
			fresh, err := l.add(ctx, snap)
			if err != nil {
				return 0, err
			}
			if removed {
				sum += fresh + bands.SnapshotRoom
			}
		}
	}
	return sum, nil
}

func (w *pruning) run(ctx context.Context) error {
	if err := w.remove(ctx, thin(w.snaps, w.worth, w.policy), mostlyDead); err != nil {
		return err
	}
	overhead := int64(0) // what the store takes beside what its snapshots need
	for round := 0; round < rounds && w.over(); round++ {
		if round == 0 {
			if err := w.remove(ctx, nil, allDead); err != nil || !w.over() {
				return err
			}
		}
		gone, need, err := w.fit(ctx, w.policy.Cap/100*roomPercent-overhead)
		if err != nil {
			return err
		}
		if len(gone) == 0 && overhead > 0 {
			break
		}
		overhead = max(w.size-need, overhead+w.policy.Cap/100)
		if err := w.remove(ctx, gone, allDead); err != nil {
			return err
		}
	}
	return nil
}

// remove removes snapshots and gives back the room of what only they needed.
func (w *pruning) remove(ctx context.Context, gone []bands.Version, which deadness) error {
	if len(gone) > 0 {
		if err := Delete(w.Held, gone...); err != nil {
			return err
		}
		w.leave(gone)
		w.gone = append(w.gone, gone...)
		slices.Sort(w.gone)
	} else if which == mostlyDead {
		return nil
	}
	if _, err := compact(ctx, w.Held, which, w.policy.read); err != nil {
		return err
	}
	size, err := w.Size()
	w.size = size
	return err
}

func (w *pruning) leave(gone []bands.Version) {
	w.snaps = slices.DeleteFunc(slices.Clone(w.snaps), func(s bands.Snapshot) bool { return slices.Contains(gone, s.Version) })
}

// fit is what has to go so that the rest needs no more than the budget: from the
// oldest automatic one to the newest, then from the oldest paired one. need is
// what all need.
func (w *pruning) fit(ctx context.Context, budget int64) (gone []bands.Version, need int64, err error) {
	order := slices.Clone(w.snaps)
	slices.SortFunc(order, func(a, b bands.Snapshot) int {
		return cmp.Or(cmp.Compare(w.worth[b.Version], w.worth[a.Version]), cmp.Compare(b.Version, a.Version))
	})
	l := newLedger(w.Store, countLive)
	defer l.close()
	for i, snap := range order {
		w.policy.read(i, len(order))
		fresh, err := l.add(ctx, snap)
		if err != nil {
			return nil, 0, err
		}
		need += fresh + bands.SnapshotRoom
		if need > budget && w.worth[snap.Version] != protected {
			gone = append(gone, snap.Version)
		}
	}
	slices.Sort(gone)
	return gone, need, nil
}

// pruneEvery is after how many snapshots MaybePrune prunes again, if nothing
// else makes it; pruneAgain after how many when the last time was no success.
const (
	pruneEvery = 500
	pruneAgain = 50
	pruneDaily = 24 * time.Hour
)

// MaybePrune is Prune if it is due: when there are more automatic snapshots than
// the policy counts, when the store takes more than the cap, when 500 snapshots
// were taken since the last time, and once a day. It finds that out in about a
// millisecond, or with a count by reading what each snapshot is.
func MaybePrune(ctx context.Context, h *bands.Held, p Policy) (Pruned, error) {
	versions, err := h.Versions()
	if err != nil || len(versions) == 0 {
		return Pruned{}, err
	}
	latest := versions[len(versions)-1]
	due, err := pruneDue(h, latest, p)
	if !due && err == nil && p.Keep > 0 && len(versions) > p.Keep {
		snaps, _ := h.Snapshots() // one that can't be read stays
		due = len(thin(snaps, ranks(snaps, p.Now, needed(h)), p)) > 0
	}
	if err != nil || !due {
		return Pruned{}, err
	}
	done, err := Prune(ctx, h, p)
	if err != nil {
		return done, err
	}
	state := "fits"
	if p.Cap > 0 && done.Before-done.Freed > p.Cap {
		state = "full"
	}
	note := fmt.Appendf(nil, "%d %d %s\n", latest, p.Now.Unix(), state)
	return done, disk.WriteCache(pruneFile(h), note, 0o600)
}

func pruneFile(h *bands.Held) string { return filepath.Join(h.Dir(), "pruned") }

// pruneDue reports whether the last prune, of which there is a note, was long enough ago, or the store takes
// more than its cap.
func pruneDue(h *bands.Held, latest bands.Version, p Policy) (bool, error) {
	// Nothing but time is lost if the note can't be read.
	var last bands.Version
	var at time.Time
	var full bool // the store took more than its cap all the same
	data, _ := disk.ReadFile(pruneFile(h))
	if fields := strings.Fields(string(data)); len(fields) == 3 {
		version, bad := strconv.Atoi(fields[0])
		seconds, bad2 := strconv.ParseInt(fields[1], 10, 64)
		if errors.Join(bad, bad2) == nil {
			last, at, full = bands.Version(version), time.Unix(seconds, 0), fields[2] == "full"
		}
	}
	since := latest - last
	if since >= pruneEvery || p.Now.Sub(at) >= pruneDaily || since < 0 {
		return true, nil
	}
	if p.Cap <= 0 || full && since < pruneAgain {
		return false, nil
	}
	size, err := h.QuickSize()
	return size > p.Cap, err
}
