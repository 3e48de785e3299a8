package retention_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/retention"
)

// now returns a Thursday afternoon, east of Greenwich so that days begin at 22:00 UTC.
func now() time.Time {
	return time.Date(2026, 3, 12, 15, 30, 0, 0, time.FixedZone("", 2*60*60))
}

// aged returns snapshots of a cause, v1 with the first age before now.
func aged(cause bands.Cause, ages ...time.Duration) []bands.Snapshot {
	list := make([]bands.Snapshot, len(ages))
	for i, age := range ages {
		list[i] = bands.Snapshot{Version: bands.Version(i + 1), Cause: cause, Created: now().Add(-age).UTC(), Lineage: "e3b0c4"}
	}
	return list
}

const (
	minute = time.Minute
	hour   = time.Hour
	days   = 24 * time.Hour
)

func TestThin(t *testing.T) {
	t.Parallel()
	old := []time.Duration{100*days + 3*hour, 100*days + 2*hour, 100 * days, 99 * days}
	latest := 0 * minute
	withPair := func(list []bands.Snapshot, at int) []bands.Snapshot {
		list[at-1].Pairs = []bands.Pair{{Checkpoint: "aabbccddeeff"}}
		return list
	}
	for name, c := range map[string]struct {
		snaps []bands.Snapshot
		keep  int
		kept  []bands.Version
		want  []bands.Version
	}{
		"none":                         {},
		"all of today":                 {snaps: aged(bands.Auto, 15*hour, 14*hour, 3*minute, 2*minute, minute, latest)},
		"of a future that a clock saw": {snaps: aged(bands.Auto, -minute, -minute, latest)},
		// 15:30 is 15 h 30 min after midnight.
		"one an hour of yesterday":  {snaps: aged(bands.Auto, 16*hour+29*minute, 16*hour, 15*hour+31*minute, 15*hour+29*minute, 15*hour, latest), want: []bands.Version{1, 2}},
		"one an hour for a week":    {snaps: aged(bands.Auto, 7*days+3*minute, 7*days+2*minute, 6*days+2*minute, 6*days+minute, latest), want: []bands.Version{1, 3}},
		"one a day after":           {snaps: aged(bands.Auto, append(old, latest)...), want: []bands.Version{1, 2}},
		"at the end of the week":    {snaps: aged(bands.Auto, 7*days+15*hour+31*minute, 7*days+15*hour+29*minute, 7*days+14*hour+50*minute, 7*days+14*hour+10*minute, latest), want: []bands.Version{2}},
		"prompts like the others":   {snaps: aged(bands.Prompt, append(old, latest)...), want: []bands.Version{1, 2}},
		"what the user asked for":   {snaps: aged(bands.Named, append(old, latest)...)},
		"what was made for commits": {snaps: aged(bands.Commit, append(old, latest)...)},
		"causes of other versions":  {snaps: aged("later", append(old, latest)...)},
		"old rescues":               {snaps: aged(bands.Rescue, append(old, 7*days, 7*days-minute, latest)...), want: []bands.Version{1, 2}},
		"young rescues":             {snaps: aged(bands.Rescue, 3*days+2*minute, 3*days+minute, 3*days, latest)},
		"a pair, and the next":      {snaps: withPair(aged(bands.Auto, append(old, latest)...), 2), want: []bands.Version{1}},
		"the latest":                {snaps: aged(bands.Auto, old[:3]...), want: []bands.Version{1, 2}},
		"what a restore needs":      {snaps: aged(bands.Auto, append(old, latest)...), kept: []bands.Version{1}, want: []bands.Version{2}},
		"by number":                 {snaps: aged(bands.Auto, append(old, 2*minute, minute, latest)...), keep: 3, want: []bands.Version{1, 2, 3, 4}},
		"by number, one":            {snaps: aged(bands.Auto, minute, latest), keep: 1, want: []bands.Version{1}},
		"by number, pairs apart":    {snaps: withPair(aged(bands.Auto, 3*minute, 2*minute, minute, latest), 3), keep: 2, want: []bands.Version{1}},
		"by number, others apart":   {snaps: aged(bands.Named, append(old, latest)...), keep: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := retention.Thin(c.snaps, retention.Policy{Now: now(), Keep: c.keep}, c.kept...)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestThinPerLineage(t *testing.T) {
	t.Parallel()
	snaps := aged(bands.Auto, 9*days+3*minute, 9*days+2*minute, 9*days+minute, 9*days, 2*minute, minute)
	for i := range snaps {
		snaps[i].Lineage = fmt.Sprintf("00000%d", i%2)
	}
	for keep, want := range map[int][]bands.Version{0: {1, 2}, 2: {1, 2}, 1: {1, 2, 3, 4}} {
		if diff := cmp.Diff(want, retention.Thin(snaps, retention.Policy{Now: now(), Keep: keep})); diff != "" {
			t.Errorf("keep %d: %s", keep, diff)
		}
	}
}

func TestThinTenThousand(t *testing.T) {
	t.Parallel()
	var ages []time.Duration
	for i := range 10_000 {
		ages = append(ages, time.Duration(10_000-i)*10*minute) // 69 days
	}
	snaps := aged(bands.Auto, ages...)
	gone := retention.Thin(snaps, retention.Policy{Now: now()})
	// 93 ten-minute intervals of today, 7 days of hours, the days before.
	if left := len(snaps) - len(gone); left < 93+7*24+60 || left > 93+7*24+64 {
		t.Errorf("%d are left", left)
	}
}
