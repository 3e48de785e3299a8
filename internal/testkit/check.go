package testkit

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Check verifies that a repository obeys the rules of the format: each trailer has one valid
// checkpoint, each checkpoint lists only files that the commits with its trailer changed,
// transcripts are complete and valid, git fsck finds no error, and no temporary files are left. It
// fails the test with all violations.
func Check(tb TB, repo *Repo) {
	tb.Helper()
	if faults := Faults(tb, repo); len(faults) > 0 {
		tb.Fatalf("%d broken rules in %s:\n%s", len(faults), repo.Dir, strings.Join(faults, "\n"))
	}
}

// CheckBusy is Check for a repository with concurrent sessions: a hook that waits for other hooks
// may start more processes.
func CheckBusy(tb TB, repo *Repo) {
	tb.Helper()
	if faults := recordFaults(tb, repo); len(faults) > 0 {
		tb.Fatalf("%d broken rules in %s:\n%s", len(faults), repo.Dir, strings.Join(faults, "\n"))
	}
}

// Faults returns the violations that Check reports.
func Faults(tb TB, repo *Repo) []string {
	tb.Helper()
	return append(recordFaults(tb, repo), manyProcesses(repo)...)
}

// recordFaults returns the violations in the stored record.
func recordFaults(tb TB, repo *Repo) []string {
	tb.Helper()
	stored := repo.Stored()
	faults := make([]string, 0, 4)
	faults = append(faults, trailerFaults(repo, stored)...)
	for _, id := range slices.Sorted(mapKeys(stored)) {
		for _, fault := range stored[id].faults() {
			faults = append(faults, "checkpoint "+id+": "+fault)
		}
	}
	faults = append(faults, leftovers(tb, repo)...)
	// Pack indexes and commit graphs are git's own; checking each takes another process.
	fsck := repo.TryGit("-c", "core.multiPackIndex=false", "-c", "core.commitGraph=false", "fsck", "--full", "--strict", "--no-dangling", "--no-progress")
	if text := withoutNotices(fsck.Stdout + fsck.Stderr); fsck.Code != 0 || text != "" {
		faults = append(faults, fmt.Sprintf("git fsck: exit %d: %s", fsck.Code, text))
	}
	return faults
}

// manyProcesses returns the hooks that started more git processes than the limit, according to
// their log records. A hook may start more if it recovered from a crash, failed, or repeated its
// work because another hook was faster.
func manyProcesses(repo *Repo) []string {
	const most = 6
	var faults []string
	for line := range strings.Lines(repo.Log()) {
		var record struct {
			Hook      string `json:"hook"`
			Processes int    `json:"git_processes"`
			Commit    int    `json:"commit_git_processes"`
			Recovered int    `json:"recovered"`
			Retried   int    `json:"retried"`
			Success   bool   `json:"success"`
		}
		if json.Unmarshal([]byte(line), &record) == nil && record.Success && record.Recovered+record.Retried == 0 &&
			record.Hook != "pre-push" && max(record.Processes, record.Commit) > most { // pre-push waits for a remote
			faults = append(faults, fmt.Sprintf("hook %s started %d git processes", record.Hook, max(record.Processes, record.Commit)))
		}
	}
	return faults
}

// withoutNotices removes the notices from the output of fsck.
func withoutNotices(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "notice: ") {
			continue
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "")
}

// commit has the data of a commit for Check.
type commit struct {
	hash     string
	trailers []string
	paths    []string
}

// commits reads all commits that git log lists for the arguments.
func commits(repo *Repo, args ...string) []commit {
	repo.TB.Helper()
	args = append([]string{
		"log", "-m", "--root", "--name-only", "-z", "--no-renames",
		"--format=%x01%H%x02%(trailers:key=Entire-Checkpoint,valueonly,separator=%x2C)%x02",
	}, args...)
	var list []commit
	for record := range strings.SplitSeq(repo.Git(args...), "\x01") {
		part := strings.SplitN(record, "\x02", 3)
		if len(part) < 3 {
			continue
		}
		entry := commit{hash: part[0], trailers: strings.FieldsFunc(part[1], func(r rune) bool { return r == ',' || r == ' ' })}
		entry.trailers = slices.DeleteFunc(entry.trailers, func(id string) bool { return id == "none" }) // the author wants no link
		for i, name := range strings.Split(part[2], "\x00") {
			if i <= 1 {
				name = strings.TrimPrefix(name, "\n")
			}
			if name != "" {
				entry.paths = append(entry.paths, name)
			}
		}
		list = append(list, entry)
	}
	return list
}

// trailerFaults checks the links between commits and checkpoints. The checkpoints of reachable
// commits must exist.
func trailerFaults(repo *Repo, stored map[string]*Stored) []string {
	repo.TB.Helper()
	if repo.TryGit("rev-parse", "-q", "--verify", "HEAD").Code != 0 {
		return nil
	}
	var faults []string
	for _, c := range commits(repo, "--exclude=refs/heads/entire/*", "--branches", "--tags", "HEAD") {
		seen := map[string]bool{}
		for _, id := range c.trailers {
			if seen[id] {
				faults = append(faults, fmt.Sprintf("commit %s names checkpoint %s twice", c.hash[:7], id))
			}
			seen[id] = true
			if stored[id] == nil {
				faults = append(faults, fmt.Sprintf("commit %s names checkpoint %s, which isn't stored", c.hash[:7], id))
			}
		}
	}
	if len(stored) == 0 {
		return faults
	}
	return append(faults, touchedFaults(repo, stored)...)
}

// touchedFaults checks that each checkpoint has a commit, except those of imported sessions, and that its commits change the files
// that it lists. Rewritten commits count, too, while they are in the reflog.
func touchedFaults(repo *Repo, stored map[string]*Stored) []string {
	repo.TB.Helper()
	var faults []string
	shared := map[string]map[string]bool{}
	noted := notedIDs(repo)
	for _, c := range commits(repo, "--all", "--reflog", "HEAD") {
		for _, id := range slices.Concat(c.trailers, noted[c.hash]) {
			if shared[id] == nil {
				shared[id] = map[string]bool{}
			}
			for _, name := range c.paths {
				shared[id][InJSON(name)] = true
			}
		}
	}
	for id, checkpoint := range stored {
		isOwn := func(slot Slot) bool { return slot.Meta.Kind == "imported" && len(slot.Meta.Attribution) == 0 }
		if shared[id] == nil {
			if checkpoint.Imported && checkpoint.Summary.Forgotten || len(checkpoint.Slots) == 1 && isOwn(checkpoint.Slots[0]) {
				continue // an imported session without a commit
			}
			if repo.Git("rev-parse", "--is-shallow-repository") != "true" {
				faults = append(faults, "checkpoint "+id+": no commit names it")
			}
			continue
		}
		for _, name := range checkpoint.Summary.FilesTouched {
			if !shared[id][name] {
				faults = append(faults, fmt.Sprintf("checkpoint %s lists %q, which its commit doesn't change", id, name))
			}
		}
	}
	return faults
}

// notedIDs returns the checkpoints in the notes of each commit.
func notedIDs(repo *Repo) map[string][]string {
	repo.TB.Helper()
	ids := map[string][]string{}
	for line := range strings.Lines(repo.Git("for-each-ref", "--format=%(refname)", "refs/notes/entire*")) {
		for note := range strings.Lines(repo.Git("notes", "--ref="+strings.TrimSpace(line), "list")) {
			blob, commit, _ := strings.Cut(strings.TrimSpace(note), " ")
			for text := range strings.Lines(repo.Git("cat-file", "blob", blob)) {
				if id, is := strings.CutPrefix(strings.TrimSpace(text), "Entire-Checkpoint: "); is {
					ids[commit] = append(ids[commit], id)
				}
			}
		}
	}
	return ids
}

// faults checks one checkpoint by itself.
func (c *Stored) faults() []string {
	var faults []string
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if c.Summary.CheckpointID != c.ID {
		add("its metadata says %q", c.Summary.CheckpointID)
	}
	if len(c.Summary.Sessions) == 0 != c.Summary.Forgotten {
		add("no session, or forgotten with sessions")
	}
	if !strings.HasSuffix(string(c.RawRoot), "}\n") || !strings.HasPrefix(string(c.RawRoot), "{\n  \"") {
		add("metadata.json isn't indented JSON with one final newline")
	}
	if !slices.IsSorted(c.Summary.FilesTouched) {
		add("files_touched isn't sorted: %q", c.Summary.FilesTouched)
	}
	union := map[string]bool{}
	seen := map[string]bool{}
	for index, slot := range c.Slots {
		if seen[slot.Meta.SessionID] {
			add("session %s has two slots", slot.Meta.SessionID)
		}
		seen[slot.Meta.SessionID] = true
		for _, name := range slot.Meta.FilesTouched {
			union[name] = true
		}
		for _, fault := range c.slotFaults(index, slot) {
			add("slot %d: %s", index, fault)
		}
	}
	for _, name := range c.Summary.FilesTouched {
		if !union[name] {
			add("files_touched has %q, which no session has", name)
		}
	}
	if len(union) != len(c.Summary.FilesTouched) {
		add("files_touched %q isn't the union of the sessions'", c.Summary.FilesTouched)
	}
	return faults
}

func (c *Stored) slotFaults(index int, slot Slot) []string {
	var faults []string
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if slot.Meta.SessionID == "" || slot.Meta.Strategy == "" || slot.Meta.CheckpointID != c.ID {
		add("incomplete metadata %+v", slot.Meta)
	}
	if when, err := time.Parse(time.RFC3339Nano, slot.Meta.CreatedAt); err != nil || when.Location() != time.UTC {
		add("created_at %q is no UTC time", slot.Meta.CreatedAt)
	}
	faults = append(faults, c.entryFaults(index)...)
	if slot.Segments == 0 {
		add("no transcript")
		return faults
	}
	if sum := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(slot.Transcript))); slot.Hash != sum {
		add("content_hash.txt is %q, the transcript's is %q", slot.Hash, sum)
	}
	for number, line := range strings.Split(slot.Transcript, "\n") {
		if !json.Valid([]byte(line)) {
			add("line %d of the transcript is no JSON: %.80q", number, line)
			break
		}
	}
	faults = append(faults, slot.partFaults()...)
	if text := strings.Join(slot.Prompts, ""); strings.HasSuffix(text, "\n") {
		add("prompt.txt has a final newline")
	}
	return faults
}

// partFaults checks the range of transcript lines that belong to the checkpoint. Other versions
// record only its start.
func (slot Slot) partFaults() []string {
	var faults []string
	start, end, lines := slot.Meta.Start, slot.Meta.End, strings.Count(slot.Transcript, "\n")+1
	if start < 0 || start > lines {
		faults = append(faults, fmt.Sprintf("it starts at line %d of %d", start, lines))
	}
	if end != 0 && (end < start || end > lines) {
		faults = append(faults, fmt.Sprintf("it starts at line %d and ends at %d of %d", start, end, lines))
	}
	if said := slot.Meta.Lines; said != 0 && said != lines {
		faults = append(faults, fmt.Sprintf("transcript_lines is %d, the transcript has %d", said, lines))
	}
	return faults
}

// entryFaults checks a slot's entry in the root metadata.
func (c *Stored) entryFaults(index int) []string {
	var faults []string
	dir := fmt.Sprintf("%s%d/", c.Root, index)
	entry := c.Summary.Sessions[index]
	want := map[string]string{
		"metadata": dir + "metadata.json", "transcript": dir + "full.jsonl", "content_hash": dir + "content_hash.txt",
	}
	got := map[string]string{"metadata": entry.Metadata, "transcript": entry.Transcript, "content_hash": entry.ContentHash}
	for key, value := range want {
		if got[key] != value {
			faults = append(faults, fmt.Sprintf("%s is %q, want %q", key, got[key], value))
		}
	}
	for _, name := range []string{entry.Context, entry.Prompt} {
		if name == "" {
			continue
		}
		if _, ok := c.Files[strings.TrimPrefix(name, c.Root)]; !ok {
			faults = append(faults, fmt.Sprintf("%q is named but not there", name))
		}
	}
	return faults
}

// leftovers finds temporary files and git's locks. Our own advisory lock files may stay: the lock
// is released when its process exits.
func leftovers(tb TB, repo *Repo) []string {
	tb.Helper()
	temporary := regexp.MustCompile(`(\.tmp[^/]*|\.lock|^tmp_obj_.*|^\.tmp.*|~)$`)
	var faults []string
	roots := []string{repo.CommonDir()}
	if root := repo.Root(); root != "" {
		roots = append(roots, filepath.Join(root, ".entire"))
	}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return nil //nolint:nilerr // what has gone meanwhile is no leftover
			}
			advisory := strings.HasSuffix(name, ".lock") && (filepath.Base(filepath.Dir(name)) == "entire" || entry.Name() == "entire-checkpoint-push-queue.lock")
			if temporary.MatchString(entry.Name()) && !advisory {
				faults = append(faults, "left over: "+name)
			}
			return nil
		})
		if err != nil {
			tb.Fatalf("look for leftovers: %v", err)
		}
	}
	return faults
}

// InJSON returns a path as it is written in JSON: as git quotes it if it isn't UTF-8 or begins with
// a quote. See docs/formats/session.md.
func InJSON(name string) string {
	if utf8.ValidString(name) && !strings.HasPrefix(name, `"`) {
		return name
	}
	var b strings.Builder
	for _, c := range []byte(name) {
		switch {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(rune(c)))
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return `"` + b.String() + `"`
}

func mapKeys[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}
