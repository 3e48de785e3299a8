// Package retention removes snapshots and the records that only they need: by age and number, by
// the cap, or by name. It also compacts bands and measures the room of snapshots. Snapshots that an
// interrupted restore needs are not pruned. Erase removes recorded content from all snapshots: it
// rewrites the records that refer to the content and overwrites its bytes.
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
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Policy determines what Prune removes.
type Policy struct {
	// Now is the present time, in the location that determines the days.
	Now time.Time
	// Keep is the number of automatic snapshots kept in each lineage. 0 is the store's own
	// retention: all of today's, one an hour for the seven days before, then one a day.
	Keep int
	// Cap is the maximum size of the store in bytes: above it the oldest automatic snapshots are
	// removed, then the oldest that are paired with a commit. 0 is no limit.
	Cap int64
	// DryRun only finds out which snapshots would be removed.
	DryRun bool
	// Progress is called with the number of snapshots read, unless it is nil.
	Progress func(done, total int64)
}

// read reports the number of snapshots read.
func (p Policy) read(done, total int) {
	if p.Progress != nil {
		p.Progress(int64(done), int64(total))
	}
}

// Pruned is the result of Prune, or with DryRun the expected one.
type Pruned struct {
	Versions []bands.Version `json:"versions"` // those removed, ascending
	Before   int64           `json:"before"`   // size of the store before
	Freed    int64           `json:"freed"`    // approximate for a dry run
}

// Prune removes the snapshots that the policy doesn't keep and frees their room. It keeps snapshots
// that the user asked for, rescues of the last seven days, the latest of each lineage, those that
// an interrupted restore needs, and those that can't be read. The caller removes the catalog's rows
// of the removed ones (registry.Rows.Forget).
func Prune(ctx context.Context, h *bands.Held, p Policy) (Pruned, error) {
	before, err := h.Size()
	if err != nil {
		return Pruned{}, fmt.Errorf("measure store: %w", err)
	}
	snaps, _ := h.Snapshots() // one that can't be read is kept
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

// Expired returns the snapshots that the policy doesn't keep because of their age or number,
// whatever the size of the store.
func Expired(snaps []bands.Snapshot, p Policy) []bands.Version {
	return thin(snaps, ranks(snaps, p.Now, nil), p)
}

// MakeRoom is Prune for a snapshot that had no room: it continues until an eighth of the cap is
// free, as the room that the snapshot needs isn't known.
func MakeRoom(ctx context.Context, h *bands.Held, p Policy) (Pruned, error) {
	const part = 8
	p.Cap -= p.Cap / part
	return Prune(ctx, h, p)
}

// needed returns the versions that an interrupted restore needs.
func needed(h *bands.Held) map[bands.Version]bool {
	list := map[bands.Version]bool{}
	for _, lineage := range bands.LineagesWithJournal(h.Store) {
		if j, err := bands.ReadJournal(h.Store, lineage); err == nil && j != nil {
			list[j.Target], list[j.Rescue], list[j.Changed] = true, true, true
		}
	}
	return list
}

// pruning is the state of one Prune.
type pruning struct {
	*bands.Held
	policy Policy
	snaps  []bands.Snapshot // that are left
	worth  map[bands.Version]rank
	gone   []bands.Version
	size   int64 // present size of the store
}

const (
	// roomPercent is the maximum percentage of the cap in use after a prune for the cap, so that
	// not every snapshot prunes again.
	roomPercent = 90
	// rounds is the maximum number of attempts to prune for the cap: the room that a removal frees
	// is not known in advance.
	rounds = 4
)

func (w *pruning) over() bool { return w.policy.Cap > 0 && w.size > w.policy.Cap }

// frees returns approximately how much room the removal of the snapshots frees.
func (w *pruning) frees(ctx context.Context, gone []bands.Version) (sum int64, err error) {
	l := newLedger(w.Store, countLive)
	defer l.close()
	done := 0
	for _, removed := range []bool{false, true} { // the kept ones first
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
	overhead := int64(0) // room that the store takes beside the needs of its snapshots
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

// remove removes snapshots and frees the room of the records that only they needed.
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

// fit returns the snapshots to remove so that the rest needs no more than the budget: from the
// oldest automatic one to the newest, then from the oldest paired one. need is the need of all.
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

// pruneEvery is the number of snapshots after which MaybePrune prunes again at the latest;
// pruneAgain is the number if the store was still over its cap after the last prune.
const (
	pruneEvery = 500
	pruneAgain = 50
	pruneDaily = 24 * time.Hour
)

// MaybePrune calls Prune if it is due: if there are more automatic snapshots than Keep, if the
// store exceeds its cap, if 500 snapshots were taken since the last prune, or if that was a day
// ago. The check takes about a millisecond; with Keep it reads the descriptions of all snapshots.
func MaybePrune(ctx context.Context, h *bands.Held, p Policy) (Pruned, error) {
	versions, err := h.Versions()
	if err != nil || len(versions) == 0 {
		return Pruned{}, err
	}
	latest := versions[len(versions)-1]
	due, err := pruneDue(h, latest, p)
	if !due && err == nil && p.Keep > 0 && len(versions) > p.Keep {
		snaps, _ := h.Snapshots() // one that can't be read is kept
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

// pruneDue reports whether the last prune, which is noted in a file, was long enough ago, or the
// store exceeds its cap.
func pruneDue(h *bands.Held, latest bands.Version, p Policy) (bool, error) {
	// If the note can't be read, the prune is only earlier than necessary.
	var last bands.Version
	var at time.Time
	var full bool // the store exceeded its cap even after the last prune
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
