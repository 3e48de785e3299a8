package importaccuracy

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// hiddenRecord is a repository that another program recorded, and the same one without its record.
type hiddenRecord struct {
	repo, hidden *testkit.Repo
	// renamed maps the commits to those of the hidden repository.
	renamed map[string]string
	// linked are the sessions of each commit that names a checkpoint of the clone.
	linked   map[string][]string
	sessions map[string]saved
	shown    map[string]*evidence
	replayer *replayer
	times    map[string]time.Time // of commits
	result   Result
}

// Record unpacks the bare repository of an archive, hides its record, and compares what the import
// of its sessions restores with what the record has. env is that of a user without sessions.
func Record(tb testkit.TB, archive, work string, env testkit.Env) Result {
	name := strings.TrimSuffix(filepath.Base(archive), ".tar")
	at := &testkit.Repo{TB: tb, Dir: work, Env: env}
	at.Sh("tar xf '" + archive + "'")
	at.Git("clone", "-q", "--no-checkout", name+".git", name)
	home := filepath.Join(work, "home of "+name)
	r := hiddenRecord{repo: at.At(name), hidden: at.At("hidden " + name), sessions: map[string]saved{}, shown: map[string]*evidence{}, times: map[string]time.Time{}, result: Result{Name: name}}
	r.hidden.Env = env.With("HOME=" + home)
	r.repo.Git("branch", "-q", recordBranch, "origin/"+recordBranch)
	for _, dir := range []string{home, r.hidden.Dir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			tb.Fatalf("make a folder: %v", err)
		}
	}
	parts := storedSessions(r.repo)
	r.link(parts)
	paths := textFiles(r.repo)
	truth := blameAll(r.repo, paths)
	r.renamed = hide(r.repo, r.hidden)
	rename := newRenamer(r.renamed)
	for session, lines := range fullest(parts) {
		for i := range lines {
			lines[i] = rename.replace(lines[i])
		}
		r.sessions[session] = save(tb, home, session, lines)
		shown := evidenceOf(lines)
		r.shown[session] = &shown
	}
	places := roots(r.hidden, r.sessions)
	r.replayer = newReplayer(r.repo, places, r.sessions)
	out := runImport(r.hidden, places...)
	r.files(paths, truth, blameAll(r.hidden, paths))
	r.commits(out)
	for _, s := range out.Skipped {
		tb.Logf("%s: skipped %s: %s", name, s.Path, s.Reason)
	}
	tb.Logf("%s: %d sessions, %d linked commits; %+v", name, len(out.Sessions), len(out.Commits), r.result.Count)
	return r.result
}

// link finds the sessions of commits.
func (r *hiddenRecord) link(parts []stored) {
	r.linked = map[string][]string{}
	for oid, ids := range trailers(r.repo) {
		for _, part := range parts {
			if slices.Contains(ids, part.checkpoint) && !slices.Contains(r.linked[oid], part.session) {
				r.linked[oid] = append(r.linked[oid], part.session)
			}
		}
	}
}

// files compares the lines of all files.
func (r *hiddenRecord) files(paths []string, truth, got map[string][]line) {
	for _, path := range paths {
		if len(truth[path]) != len(got[path]) {
			r.repo.TB.Fatalf("%s: %d lines, without the record %d", path, len(truth[path]), len(got[path]))
		}
		for i, want := range truth[path] {
			r.line(r.correct(want), got[path][i])
		}
	}
}

func (r *hiddenRecord) line(want, got line) {
	c := &r.result.Count
	isFound := got.kind == "agent"
	switch {
	case want.kind == "person": // of a commit before the first record
		c.Others++
		if isFound {
			c.Claimed++
			r.fail(ClaimedLine, want, got, "")
		}
		return
	case want.kind != "agent":
		c.Unknown++
		if isFound {
			c.Found++
		}
		return
	}
	if isFound && got.session != want.session && got.commit != r.renamed[want.commit] && r.shown[got.session].wrote(want) && r.isOfCommit(got) {
		// The record has no lines, so it takes the line for one that the later commit only formatted.
		c.Unknown++
		c.Found++
		c.Disputed++
		r.fail(DisputedLine, want, got, ", of the commit that git blame names, too")
		return
	}
	c.Lines++
	switch {
	case !isFound:
		c.Missing++
		note := ""
		if !r.shown[want.session].wrote(want) {
			c.Unshown++
			note = ", which no call of the session writes"
		}
		r.fail(MissingLine, want, got, note)
	case want.call != "" && got.call == want.call, want.session == got.session: // a copied history has the calls of the other session
		c.Session++
		if want.call != "" && got.call == want.call || got.prompt == want.prompt ||
			want.call != "" && r.replayer.isSameTurn(want.call, got.call) {
			c.Prompt++
		} else {
			r.fail(WrongTurn, want, got, "")
		}
	default:
		c.Wrong++
		note := ""
		if r.shown[got.session].wrote(want) {
			c.Both++
			note = ", which wrote the line, too"
		}
		r.fail(WrongLine, want, got, note)
	}
}

// isOfCommit reports whether git itself finds the line in the same commit.
func (r *hiddenRecord) isOfCommit(l line) bool {
	found := r.hidden.TryGit("blame", "-w", "-M", "-C", "-s", "-l", "--root", "-L", fmt.Sprintf("%d,%[1]d", l.number), "HEAD", "--", l.path)
	return found.Code == 0 && strings.HasPrefix(found.Stdout, l.commit)
}

func (r *hiddenRecord) fail(kind Mistake, want, got line, note string) {
	commit := fmt.Sprintf("%.8s (recorded as %.8s)", r.renamed[want.commit], want.commit)
	if got.commit != r.renamed[want.commit] {
		commit += fmt.Sprintf(", now of %.8s", got.commit)
	}
	r.result.fail(kind, "%s is of %s, commit %s; now %s%s: %.80s", want.where(), want.author(), commit, got.author(), note, strings.TrimSpace(want.text))
}

// commits compares the links of commits.
func (r *hiddenRecord) commits(out imported) {
	links, reasons, by := out.links(), out.reasons(), out.evidence()
	c := &r.result.Count
	var first time.Time // of all recorded sessions
	for _, s := range r.sessions {
		if first.IsZero() || !s.began.IsZero() && s.began.Before(first) {
			first = s.began
		}
	}
	for _, old := range slices.Sorted(maps.Keys(r.renamed)) {
		want, got := r.linked[old], links[r.renamed[old]]
		about := func() string {
			return fmt.Sprintf("%.8s (recorded as %.8s) %q of %.8q", r.renamed[old], old, r.repo.Git("log", "-1", "--format=%s", old), want)
		}
		if len(want) == 0 {
			if len(got) > 0 && r.time(old).Before(first) {
				c.Taken++
				r.result.fail(TakenCommit, "%s is older than all sessions; now %.8q by %s", about(), got, by[r.renamed[old]])
			}
			if r.time(old).Before(first) {
				c.Free++
			}
			continue
		}
		c.Commits++
		isRight := slices.ContainsFunc(want, func(s string) bool { return slices.Contains(got, s) })
		note := ""
		if !isRight && !r.isShown(old, want) {
			c.Silent++
			note = ", which no session of the record shows"
		}
		switch {
		case isRight:
			c.Linked++
		case len(got) > 0 && note == "":
			c.Strange++
			r.result.fail(StrangeCommit, "%s; now %.8q by %s", about(), got, by[r.renamed[old]])
		default:
			c.Unlinked++
			r.result.fail(UnlinkedCommit, "%s%s: %s; now %.8q", about(), note, reasons[r.renamed[old]], got)
		}
	}
}

// isShown reports whether one of the sessions shows a commit.
func (r *hiddenRecord) isShown(old string, sessions []string) bool {
	subject, added := r.repo.Git("log", "-1", "--format=%s", old), r.added(old)
	return slices.ContainsFunc(sessions, func(s string) bool { return r.shown[s].shows(r.renamed[old], subject, added) })
}

// added returns the lines that a commit adds.
func (r *hiddenRecord) added(oid string) (lines []string) {
	for text := range strings.SplitSeq(r.repo.Git("show", "--format=", "-U0", oid), "\n") {
		if added, ok := strings.CutPrefix(text, "+"); ok && !strings.HasPrefix(text, "+++ ") {
			lines = append(lines, added)
		}
	}
	return lines
}

// time returns the committer's time.
func (r *hiddenRecord) time(oid string) time.Time {
	if at, ok := r.times[oid]; ok {
		return at
	}
	at, err := time.Parse(time.RFC3339, r.repo.Git("log", "-1", "--format=%cI", oid))
	if err != nil {
		r.repo.TB.Fatalf("time of %s: %v", oid, err)
	}
	r.times[oid] = at
	return at
}
