package retention

import (
	"cmp"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands"
)

// rank is the priority of a snapshot when others have to be removed.
type rank int

const (
	// automatic ones are thinned by their age.
	automatic rank = iota
	// paired ones belong to a commit: they are removed only because of the cap, after the automatic
	// ones.
	paired
	// protected ones are never removed automatically.
	protected
)

const (
	rescueKept = 7 * 24 * time.Hour
	hourlyDays = 7
)

// ranks returns the ranks of all snapshots of a store. kept are versions that an unfinished
// operation needs.
func ranks(snaps []bands.Snapshot, now time.Time, kept map[bands.Version]bool) map[bands.Version]rank {
	latest := map[string]bands.Version{}
	for _, snap := range snaps {
		latest[snap.Lineage] = max(latest[snap.Lineage], snap.Version)
	}
	list := make(map[bands.Version]rank, len(snaps))
	for _, snap := range snaps {
		r := automatic
		if len(snap.Pairs) > 0 || snap.Cause == bands.Commit {
			r = paired
		}
		switch snap.Cause {
		case bands.Auto, bands.Prompt, bands.Commit:
		case bands.Rescue:
			if now.Sub(snap.Created) < rescueKept {
				r = protected
			}
		default: // requested by the user, or of an unknown cause
			r = protected
		}
		if kept[snap.Version] || latest[snap.Lineage] == snap.Version { // the next one is compared with the latest
			r = protected
		}
		list[snap.Version] = r
	}
	return list
}

// thin returns the snapshots that the policy doesn't keep because of their age or number,
// ascending.
func thin(snaps []bands.Snapshot, ranks map[bands.Version]rank, p Policy) []bands.Version {
	newest := slices.Clone(snaps)
	slices.SortFunc(newest, func(a, b bands.Snapshot) int { return cmp.Compare(b.Version, a.Version) })
	var gone []bands.Version
	counts := map[string]int{}
	taken := map[slot]bool{}
	for _, snap := range newest {
		if p.Keep > 0 && isAutomatic(snap) {
			counts[snap.Lineage]++
		}
		at, all := slotOf(snap, p.Now)
		over := !all && taken[at]
		if p.Keep > 0 {
			over = counts[snap.Lineage] > p.Keep
		}
		if over && ranks[snap.Version] == automatic {
			gone = append(gone, snap.Version)
		}
		if ranks[snap.Version] == automatic || isAutomatic(snap) {
			taken[at] = true
		}
	}
	slices.Sort(gone)
	return gone
}

// isAutomatic reports whether keep_count counts the snapshot: the latest is counted, though it is
// always kept.
func isAutomatic(snap bands.Snapshot) bool {
	return (snap.Cause == bands.Auto || snap.Cause == bands.Prompt) && len(snap.Pairs) == 0
}

// slot is a period of which one automatic snapshot is kept: the last.
type slot struct {
	lineage string
	begin   time.Time
}

// slotOf returns the hour of a snapshot, or its day if it is older than a week. All of today's are
// kept, and those with a time in the future.
func slotOf(snap bands.Snapshot, now time.Time) (at slot, all bool) {
	when := snap.Created.In(now.Location())
	today := day(now)
	switch {
	case !when.Before(today):
		return slot{}, true
	case !when.Before(today.AddDate(0, 0, -hourlyDays)):
		return slot{snap.Lineage, when.Truncate(time.Hour)}, false
	default:
		return slot{snap.Lineage, day(when)}, false
	}
}

func day(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}
