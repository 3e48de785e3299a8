package bands_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
)

func TestInEffect(t *testing.T) {
	t.Parallel()
	work := bands.Snapshot{Cause: bands.Auto}
	restore := func(v bands.Version) bands.Snapshot {
		return bands.Snapshot{Cause: bands.Rescue, Causality: bands.Causality{Restores: v}}
	}
	undo := func(v bands.Version) bands.Snapshot {
		return bands.Snapshot{Cause: bands.Rescue, Causality: bands.Causality{Restores: v, Undoes: true}}
	}
	some := func(v bands.Version) bands.Snapshot {
		return bands.Snapshot{Cause: bands.Rescue, Causality: bands.Causality{Restores: v, RestoresPaths: true}}
	}
	for name, c := range map[string]struct {
		all  []bands.Snapshot
		want []bands.Version
	}{
		"work":                          {[]bands.Snapshot{work, work, work}, []bands.Version{1, 2, 3}},
		"a restore":                     {[]bands.Snapshot{work, work, work, restore(1)}, []bands.Version{1}},
		"work after a restore":          {[]bands.Snapshot{work, work, restore(1), work}, []bands.Version{1, 4}},
		"of some paths":                 {[]bands.Snapshot{work, work, some(1), work}, []bands.Version{1, 2, 4}},
		"an undo":                       {[]bands.Snapshot{work, work, restore(1), undo(3)}, []bands.Version{1, 2}},
		"an undo keeps later work":      {[]bands.Snapshot{work, work, restore(1), work, undo(3)}, []bands.Version{1, 2, 4}},
		"a redo keeps later work":       {[]bands.Snapshot{work, work, restore(1), work, undo(3), work, undo(5)}, []bands.Version{1, 4, 6}},
		"an undo of a redo":             {[]bands.Snapshot{work, work, restore(1), undo(3), undo(4), undo(5)}, []bands.Version{1, 2}},
		"a restore forward":             {[]bands.Snapshot{work, work, work, restore(1), work, restore(2)}, []bands.Version{1, 2}},
		"its undo":                      {[]bands.Snapshot{work, work, work, restore(1), work, restore(2), undo(6)}, []bands.Version{1, 5}},
		"a restore of a rescue":         {[]bands.Snapshot{work, work, restore(1), work, restore(3)}, []bands.Version{1, 2}},
		"two, and both undone":          {[]bands.Snapshot{work, work, work, restore(2), restore(1), undo(5), undo(4)}, []bands.Version{1, 2, 3}},
		"a target that was deleted":     {[]bands.Snapshot{work, work, restore(9), work}, []bands.Version{1, 2, 4}},
		"an undo of a restore long ago": {[]bands.Snapshot{work, undo(9), work}, []bands.Version{1, 3}},
	} {
		for i := range c.all {
			c.all[i].Version = bands.Version(i + 1)
		}
		var got []bands.Version
		for _, s := range bands.InEffect(c.all) {
			got = append(got, s.Version)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}
