//go:build fs && linux

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// powerImages is the number of disks tried of each kind of file system, unless
// ENTIRE_TEST_IMAGES is set.
const powerImages = 8

// TestFSPowerImages logs the writes of a file system to its disk, and its flushes, while a
// session works, commits and rewinds. Then it mounts disks as a power cut may leave them: with
// the flushed data, and none, all or some of the later writes. On each of them the next hooks
// run, and the records are checked.
func TestFSPowerImages(t *testing.T) {
	number := powerImages
	if n, err := strconv.Atoi(os.Getenv("ENTIRE_TEST_IMAGES")); err == nil {
		number = n
	}
	for _, kind := range []string{testkit.Ext4, testkit.XFS, testkit.Btrfs} {
		t.Run(kind, func(t *testing.T) { imagesOf(t, kind, number) })
	}
}

// powerStage is a part of the work before the power cut.
type powerStage struct {
	name string
	do   func(p *play)
	// holds returns what is wrong once the stage has ended.
	holds func(p *play) []string
	ends  int // number of log entries at its end
}

func imagesOf(t *testing.T, kind string, number int) {
	t.Helper()
	mounted := filepath.Join(t.TempDir(), "disk")
	disk := testkit.RecordDisk(t, kind, 400, mounted)
	p := newPlay(t, filepath.Join(mounted, "root"), programDir(t), "plain")
	stages := powerStages()
	flushAll := func() { system(t, "sync", "--file-system", mounted) }
	flushAll()
	begin := len(disk.Log(t, disk.Position(t)))
	var ends []int64
	for _, s := range stages {
		s.do(p)
		ends = append(ends, disk.Position(t))
	}
	disk.Unmount(t)
	log := disk.Log(t, ends[len(ends)-1])
	for i := range stages {
		stages[i].ends = len(disk.Log(t, ends[i]))
	}
	cuts := cutsOf(begin, stages, number)
	disk.EachCut(t, log, cuts, func(cut testkit.Cut) {
		done := -1
		for done+1 < len(stages) && stages[done+1].ends <= cut.Entries {
			done++
		}
		var now scene
		doing := "the first stage"
		if done >= 0 {
			doing = "after " + stages[done].name
			if cut.Entries == stages[done].ends {
				now.holds = stages[done].holds
			}
		}
		q := p.copyFor(t)
		q.ageLocks()
		faults := q.afterPowerCut(now)
		if info, err := os.Stat(q.main().Transcript.Path); err != nil || info.Size() == 0 {
			// The agent doesn't sync its transcript, and it is lost.
			faults = slices.DeleteFunc(faults, func(f string) bool { return strings.HasSuffix(f, "has no transcript") })
		}
		if len(faults) > 0 {
			t.Errorf("%s, cut after %d of %d entries, %s of what was not flushed: %s\nlog:\n%s",
				doing, cut.Entries, len(log), cut.Kept, strings.Join(faults, "\n"), q.complaints())
		}
	})
	flushes := 0
	for _, e := range log[begin:] {
		if e.Kind == testkit.DiskFlush {
			flushes++
		}
	}
	fmt.Printf("%-30s %5d writes %4d flushes %4d disks\n", t.Name(), len(log)-begin-flushes, flushes, len(cuts))
}

// cutsOf returns cuts at the ends of the stages, with no unflushed data kept, and number other
// cuts between.
func cutsOf(begin int, stages []powerStage, number int) []testkit.Cut {
	var cuts []testkit.Cut
	end, i := stages[len(stages)-1].ends, 0
	for n := range number {
		at := begin + (end-begin)*(n+1)/(number+1)
		for ; i < len(stages) && stages[i].ends <= at; i++ {
			cuts = append(cuts, testkit.Cut{Entries: stages[i].ends, Kept: testkit.None})
		}
		cuts = append(cuts, testkit.Cut{Entries: at, Kept: testkit.Kept(n % 3)})
	}
	for ; i < len(stages); i++ {
		cuts = append(cuts, testkit.Cut{Entries: stages[i].ends, Kept: testkit.None})
	}
	return cuts
}

// ageLocks makes locks as old as if the machine took a while to start.
func (p *play) ageLocks() {
	old := time.Now().Add(-time.Hour)
	_ = filepath.WalkDir(p.common, func(path string, _ fs.DirEntry, _ error) error {
		if strings.HasSuffix(path, ".lock") {
			_ = os.Chtimes(path, old, old)
		}
		return nil
	})
}

// powerStages returns a session with its commits, rewinds and end. The user's own git syncs its
// writes, because the durability of their commits is up to the user.
func powerStages() []powerStage {
	safely := func(p *play, args ...string) { p.git(append([]string{"-c", "core.fsync=all"}, args...)...) }
	var r rewound
	tree := func(name string) func(p *play) []string {
		return func(p *play) []string {
			if interrupted(p) || treeOf(p) != r.trees[name] {
				return []string{"the tree isn't what it was at the end of the command:\n" + treeOf(p)}
			}
			return nil
		}
	}
	return []powerStage{
		{name: "a prompt", do: func(p *play) { p.main().Start("startup"); p.main().Prompt("Please write a.txt and b.txt.") }},
		{
			name: "a stop", do: func(p *play) { p.writes("main", "a.txt", "b.txt"); p.main().Stop() },
			holds: func(p *play) []string { return p.hasPending("a.txt", "b.txt") },
		},
		{
			name: "a commit", do: func(p *play) { safely(p, "add", "a.txt"); safely(p, "commit", "-q", "-m", "a") },
			holds: func(p *play) []string { return p.hasCheckpoints(1) },
		},
		{
			name: "two turns", do: func(p *play) {
				r = twoTurns(p, treeOf)
				p.Sh("sync --file-system .") // otherwise the tree itself is undefined
			},
		},
		{name: "a rewind", do: func(p *play) { p.runs("rewind", "--to", "v3", "--force") }, holds: tree("early")},
		{name: "its undo", do: func(p *play) { p.runs("rewind", "--undo") }, holds: tree("late")},
		{
			name: "a commit of the rest", do: func(p *play) { safely(p, "add", "b.txt"); safely(p, "commit", "-q", "-m", "b") },
			holds: func(p *play) []string { return p.hasCheckpoints(2) },
		},
		{name: "a snapshot", do: func(p *play) { p.runs("fs", "checkpoint", "create", "by hand") }},
		{name: "the session's end", do: func(p *play) { p.main().End("logout") }},
	}
}

func (p *play) hasPending(want ...string) []string {
	if got := p.pending("main"); strings.Join(got, " ") != strings.Join(want, " ") {
		return []string{fmt.Sprintf("pending %q, want %q", got, want)}
	}
	return nil
}

func (p *play) hasCheckpoints(want int) []string {
	if got := len(p.Stored()); got < want {
		return []string{fmt.Sprintf("%d checkpoints, want %d", got, want)}
	}
	return nil
}
