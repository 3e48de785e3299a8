package strategy_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/strategy/doctor"
	"github.com/seed-3aff656d/entire/strategy/forget"
)

// own returns a path in the git directory.
func (d *desk) own(names ...string) string {
	return filepath.Join(append([]string{d.repo.CommonDir()}, names...)...)
}

// findings returns the codes of the findings, sorted.
func (d *desk) findings(found []doctor.Finding) []string {
	codes := make([]string, len(found))
	for i, f := range found {
		codes[i] = cmp.Or(f.Code, "no code")
	}
	slices.Sort(codes)
	return codes
}

// onBranch writes a file of a checkpoint to the branch.
func (d *desk) onBranch(id, name, content string) {
	d.t.Helper()
	index := d.repo.At(".")
	index.Env = index.Env.With("GIT_INDEX_FILE=" + filepath.Join(filepath.Dir(d.repo.Dir), "index"))
	index.Git("read-tree", "entire/checkpoints/v1")
	blob := d.repo.GitInput(content, "hash-object", "-w", "--stdin")
	index.Git("update-index", "--add", "--cacheinfo", "100644,"+blob+","+id[:2]+"/"+id[2:]+"/"+name)
	commit := index.Git("commit-tree", "-p", "entire/checkpoints/v1", "-m", "harm", index.Git("write-tree"))
	d.repo.Git("update-ref", "refs/heads/entire/checkpoints/v1", commit)
}

// TestDoctorFindings damages the records of a session in one way each. An examination finds this
// damage only and writes nothing; a repair leaves the findings that it can't fix.
func TestDoctorFindings(t *testing.T) {
	t.Parallel()
	const other = "0123456789ab"
	tests := map[string]struct {
		harm func(d *desk, s *testkit.Session)
		want []string
		left []string
	}{
		"nothing":          {harm: func(d *desk, s *testkit.Session) { d.turn(s, 0, "a.txt"); d.commit("a.txt"); d.turn(s, 0, "b.txt") }},
		"a turn under way": {harm: func(d *desk, s *testkit.Session) { d.prompt(s, 7) }},
		"an agent that is gone": {
			harm: func(d *desk, s *testkit.Session) { d.prompt(s, 7); d.alive[7] = false },
			want: []string{doctor.StuckSession},
		},
		"an agent that is not known, for hours": {
			harm: func(d *desk, s *testkit.Session) { d.prompt(s, 0); d.now = d.now.Add(7 * time.Hour) },
			want: []string{doctor.StuckSession},
		},
		"pending files of a session that ended": {
			harm: func(d *desk, s *testkit.Session) { d.turn(s, 0, "a.txt"); d.end(s) },
			want: []string{doctor.PendingSession}, left: []string{doctor.PendingSession},
		},
		"a damaged state": {
			harm: func(d *desk, s *testkit.Session) {
				d.turn(s, 0, "a.txt")
				d.commit("a.txt")
				d.repo.Write(d.own("entire-sessions", s.ID+".json"), "{")
			},
			want: []string{doctor.DamagedState},
		},
		"an unknown phase": {
			harm: func(d *desk, s *testkit.Session) {
				d.turn(s, 0, "a.txt")
				path := d.own("entire-sessions", s.ID+".json")
				text := d.repo.Read(path)
				harmed := strings.Replace(text, `"idle"`, `"asleep"`, 1)
				if harmed == text {
					d.t.Fatalf("no phase in %s", text)
				}
				d.repo.Write(path, harmed)
			},
			want: []string{doctor.UnknownPhase},
		},
		"a side file that is gone": {
			harm: func(d *desk, s *testkit.Session) {
				d.turn(s, 0, "a.txt")
				d.must(os.Remove(d.own("entire-sessions", "side", s.ID+".prompts")))
			},
			want: []string{doctor.SideFileLost}, left: []string{doctor.SideFileLost},
		},
		"a commit whose last hook was not run": {
			harm: func(d *desk, s *testkit.Session) { d.turn(s, 0, "a.txt"); d.commitWithoutPostCommit("a.txt") },
			want: []string{doctor.UnfinishedCommit},
		},
		"a commit that was never made": {
			harm: func(d *desk, s *testkit.Session) {
				d.turn(s, 0, "a.txt")
				d.prepare("a.txt")
				d.now = d.now.Add(48 * time.Hour)
			},
			want: []string{doctor.StaleDecision},
		},
		"a damaged entry of the journal": {
			harm: func(d *desk, _ *testkit.Session) {
				d.repo.Write(d.own("entire", "journal", "e3b0c4."+other+".json"), "{")
			},
			want: []string{doctor.DamagedJournal},
		},
		"a damaged list of what was forgotten": {
			harm: func(d *desk, _ *testkit.Session) { d.repo.Write(checkpoint.TombstonesPath(d.repo.CommonDir()), "{") },
			want: []string{doctor.DamagedTombstones}, left: []string{doctor.DamagedTombstones},
		},
		"an interrupted forget": {
			harm: func(d *desk, _ *testkit.Session) { d.repo.Write(forget.JournalPath(d.repo.CommonDir()), "{}") },
			want: []string{doctor.InterruptedForget}, left: []string{doctor.InterruptedForget},
		},
		"a trailer without its checkpoint": {
			harm: func(d *desk, s *testkit.Session) {
				d.turn(s, 0, "a.txt")
				d.commit("a.txt")
				d.repo.Git("commit", "-q", "--allow-empty", "-m", "theirs\n\nEntire-Checkpoint: "+other)
			},
			want: []string{doctor.LostCheckpoint}, left: []string{doctor.LostCheckpoint},
		},
		"a trailer of a commit that was not made here": {
			harm: func(d *desk, _ *testkit.Session) {
				d.repo.Git("commit", "-q", "--allow-empty", "-m", "theirs\n\nEntire-Checkpoint: "+other)
				d.repo.Git("reflog", "expire", "--expire=now", "--all")
			},
			want: []string{doctor.ForeignCheckpoint}, left: []string{doctor.ForeignCheckpoint},
		},
		"the branch of checkpoints is gone": {
			harm: func(d *desk, s *testkit.Session) {
				d.turn(s, 0, "a.txt")
				d.commit("a.txt")
				d.repo.Git("branch", "-q", "-D", "entire/checkpoints/v1")
			},
			want: []string{doctor.LostBranch},
		},
		"a branch in the way": {
			harm: func(d *desk, _ *testkit.Session) { d.repo.Git("branch", "entire") },
			want: []string{doctor.BlockedBranch}, left: []string{doctor.BlockedBranch},
		},
		"a checkpoint that no commit names": {
			harm: func(d *desk, s *testkit.Session) {
				d.turn(s, 0, "a.txt")
				d.commit("a.txt")
				d.repo.Git("reset", "-q", "--hard", "HEAD~1")
				d.repo.Git("update-ref", "-d", "ORIG_HEAD")
				d.repo.Git("reflog", "expire", "--expire=now", "--all")
			},
			want: []string{doctor.UnusedCheckpoints}, left: []string{doctor.UnusedCheckpoints},
		},
		"a checkpoint whose summary is damaged": {
			harm: func(d *desk, s *testkit.Session) {
				d.turn(s, 0, "a.txt")
				d.onBranch(d.commit("a.txt"), "metadata.json", "{")
			},
			want: []string{doctor.CheckpointSummary},
		},
		"a session of a checkpoint that is damaged": {
			harm: func(d *desk, s *testkit.Session) {
				d.turn(s, 0, "a.txt")
				d.onBranch(d.commit("a.txt"), "0/metadata.json", "{")
			},
			want: []string{doctor.DamagedCheckpoint},
		},
		"a shadow branch that names nothing": {
			harm: func(d *desk, s *testkit.Session) {
				d.turn(s, 0, "a.txt")
				name := d.repo.Git("for-each-ref", "--format=%(refname)", "refs/heads/entire/*-*")
				d.repo.Write(d.own(name), strings.Repeat("1", 40)+"\n")
				d.must(os.Remove(d.own("logs", name)))
			},
			want: []string{doctor.BrokenRef},
		},
		"a lock that git left": {
			harm: func(d *desk, s *testkit.Session) {
				d.turn(s, 0, "a.txt")
				d.commit("a.txt")
				path := d.own("refs", "heads", "entire", "checkpoints", "v1.lock")
				d.repo.Write(path, "")
				d.must(os.Chtimes(path, time.Time{}, d.now.Add(-2*time.Hour)))
			},
			want: []string{doctor.StaleLock},
		},
		"a saved context that is no context": {
			harm: func(d *desk, _ *testkit.Session) {
				d.repo.Git("update-ref", "refs/entire/context/3f9a1c-77b0e2", "HEAD")
			},
			want: []string{doctor.DamagedContext}, left: []string{doctor.DamagedContext},
		},
	}
	for name, c := range testkit.ShortTable(tests, 5) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.repo.Write("README.md", "text\n")
			d.repo.Commit("first")
			c.harm(d, d.session("main"))
			ctx := context.Background()
			before := testkit.Fingerprint(d.repo.CommonDir(), 10_000)
			examiner := &doctor.Doctor{Workspace: d.workspace()}
			found, err := examiner.Examine(ctx)
			d.must(err)
			if diff := gocmp.Diff(c.want, d.findings(found), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("found (-want +got):\n%s\n%+v", diff, found)
			}
			if after := testkit.Fingerprint(d.repo.CommonDir(), 10_000); after != before || before == "" {
				t.Errorf("the examination changed files:\n%s", gocmp.Diff(before, after))
			}
			outcomes, err := examiner.Fix(ctx, found)
			d.must(err)
			for _, o := range outcomes {
				if o.Err != nil {
					t.Errorf("%s: %v", o.Code, o.Err)
				}
			}
			found, err = (&doctor.Doctor{Workspace: d.workspace()}).Examine(ctx)
			d.must(err)
			if diff := gocmp.Diff(c.left, d.findings(found), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("left (-want +got):\n%s\n%+v", diff, found)
			}
		})
	}
}

// TestDoctorReadsVersionsOnce: reading earlier versions of several damaged checkpoints starts
// no more processes than of one.
func TestDoctorReadsVersionsOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.repo.Write("README.md", "text\n")
	d.repo.Commit("first")
	s := d.session("main")
	processes := func() int {
		w := d.workspace()
		before := w.Repo.Processes()
		found, err := (&doctor.Doctor{Workspace: w}).Examine(context.Background())
		d.must(err)
		for _, f := range found {
			if f.Code != doctor.DamagedCheckpoint || f.Repair == nil {
				t.Errorf("found %+v", f)
			}
		}
		return w.Repo.Processes() - before
	}
	damage := func(path string) {
		d.turn(s, 0, path)
		d.onBranch(d.commit(path), "0/metadata.json", "{")
	}
	damage("a.txt")
	one := processes()
	for _, path := range []string{"b.txt", "c.txt", "d.txt"} {
		damage(path)
	}
	if four := processes(); four > one {
		t.Errorf("git was started %d times for one damaged checkpoint, %d for four", one, four)
	}
}
