package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// metadataDir is the directory that shadow trees have in addition to the user's files.
const metadataDir = ".entire/metadata/"

// shadowReader reads the turns on shadow branches.
type shadowReader struct{ repo *git.Repo }

// temporaryPoints returns the turns of this worktree on HEAD that no commit has taken up, newest
// first.
func (sh shadowReader) temporaryPoints(ctx context.Context) ([]ExplainPoint, error) {
	head, err := sh.repo.Commit(ctx, "HEAD")
	if err != nil && !errors.Is(err, git.ErrMissing) {
		return nil, fmt.Errorf("read HEAD: %w", err)
	}
	branch := checkpoint.ShadowBranch(head.OID, sh.repo.WorktreeID)
	if _, err := sh.repo.Commit(ctx, branch); err != nil || sh.repo.Root == "" {
		return nil, git.UnlessMissing(err)
	}
	commits, err := sh.shadowCommits(ctx, branch)
	if err != nil {
		return nil, err
	}
	points := make([]ExplainPoint, 0, len(commits))
	for _, c := range commits {
		id, dir := sessionOf(c)
		p := ExplainPoint{ID: string(c.OID), Temporary: true, Date: c.Committer.When, Commits: []git.Commit{c}, Sessions: []string{id}}
		if s, err := session.Open(sh.repo.CommonDir).Load(id); err == nil {
			p.Agent = s.AgentType
		}
		p.Task = trailer(c, checkpoint.TaskKey) != ""
		if p.Prompt = c.Subject(); !p.Task {
			p.Prompt = sh.shadowPrompt(ctx, c, dir)
		}
		points = append(points, p)
	}
	return points, nil
}

// shadowCommits returns the turns on shadow branches, without carry-forward commits.
func (sh shadowReader) shadowCommits(ctx context.Context, branches ...string) ([]git.Commit, error) {
	commits, err := git.Commits(ctx, sh.repo, append([]string{"--first-parent", fmt.Sprintf("--max-count=%d", mostCommits)}, append(branches, "--")...)...)
	return slices.DeleteFunc(commits, func(c git.Commit) bool {
		session, _ := sessionOf(c)
		return session == ""
	}), err
}

// sessionOf returns the session of a shadow commit and the directory of its metadata, empty if the
// commit is not a turn's.
func sessionOf(c git.Commit) (session, dir string) {
	dir = trailer(c, checkpoint.TaskKey)
	if dir == "" {
		dir = trailer(c, checkpoint.MetadataKey)
	}
	rest, ok := strings.CutPrefix(dir, metadataDir)
	session, _, _ = strings.Cut(rest, "/")
	if !ok || session == "" || trailer(c, checkpoint.SessionKey) != session {
		return "", ""
	}
	return session, metadataDir + session
}

// trailer returns the value of the commit's last line with the key.
func trailer(c git.Commit, key string) string {
	value := ""
	for line := range strings.Lines(c.Message) {
		if v, ok := strings.CutPrefix(line, key+":"); ok {
			value = strings.TrimSpace(v)
		}
	}
	return value
}

// shadowPrompt returns the last prompt of a shadow commit's turn, or its subject.
func (sh shadowReader) shadowPrompt(ctx context.Context, c git.Commit, dir string) string {
	entry, found, err := git.LookupPath(ctx, sh.repo, c.Tree, dir)
	if err == nil && found && entry.Mode == git.ModeTree {
		prompts, err := checkpoint.Stored{Dir: entry.OID}.Prompts(ctx, sh.repo)
		if n := len(prompts); err == nil && n > 0 && prompts[n-1] != "" {
			return prompts[n-1]
		}
	}
	return c.Subject()
}

// temporary reads the shadow commit whose id begins with prefix.
func (sh shadowReader) temporary(ctx context.Context, prefix string, o ExplainOptions) (Detail, error) {
	c, err := sh.findShadow(ctx, prefix)
	if err != nil {
		return Detail{}, err
	}
	id, dir := sessionOf(c)
	d := Detail{
		ID: string(c.OID), Temporary: true, Task: trailer(c, checkpoint.TaskKey) != "", Strategy: trailer(c, checkpoint.StrategyKey),
		Created: c.Committer.When, Author: c.Author,
	}
	since, err := sh.since(ctx, c)
	if err != nil {
		return Detail{}, err
	}
	changes, err := git.Changes(ctx, sh.repo, since.files.OID, c.OID)
	if err != nil {
		return Detail{}, fmt.Errorf("compare %s: %w", c.OID.Short(), err)
	}
	for _, change := range changes {
		if !strings.HasPrefix(change.Path, metadataDir) {
			d.Files = append(d.Files, change.Path)
		}
	}
	part := CheckpointSession{Session: id, Created: d.Created, Files: d.Files, full: o.Scope == Whole}
	if s, err := session.Open(sh.repo.CommonDir).Load(id); err == nil {
		part.Agent = s.AgentType
	}
	if err := sh.readTemporary(ctx, &part, c, since.conversation, o); err != nil {
		return Detail{}, err
	}
	if part.Intent == "" {
		part.Intent = sh.shadowPrompt(ctx, c, dir)
	}
	d.Sessions = []CheckpointSession{part}
	return d, nil
}

// readTemporary reads the conversation of a shadow commit: the part that a turn added to the
// conversation in since, or the conversation of the subagent whose task it ends. The first turn on
// a branch has no earlier conversation: the state records which part belongs to earlier
// checkpoints.
func (sh shadowReader) readTemporary(ctx context.Context, t *CheckpointSession, c, since git.Commit, o ExplainOptions) error {
	sr := sessionReader(sh)
	if dir := trailer(c, checkpoint.TaskKey); dir != "" {
		var err error
		if t.stored, err = checkpoint.TaskTranscript(ctx, sh.repo, c.Tree, dir); err != nil {
			return err
		}
		t.subagent = true
		return sr.readTranscript(ctx, t, t.stored, checkpoint.LineSpan{})
	}
	dir, err := sh.directory(ctx, c.Tree, metadataDir+t.Session)
	if err != nil {
		return err
	}
	earlier, err := sh.directory(ctx, since.Tree, metadataDir+t.Session)
	if err != nil {
		return err
	}
	if t.stored, err = checkpoint.UnhashedTranscript(ctx, sh.repo, dir); err != nil {
		return err
	}
	if o.Scope == Whole {
		return sr.readTranscript(ctx, t, t.stored, checkpoint.LineSpan{})
	}
	if earlier == "" {
		var span checkpoint.LineSpan
		if s, err := session.Open(sh.repo.CommonDir).Load(t.Session); err == nil {
			span.From = s.TranscriptStart
		}
		return sr.readTranscript(ctx, t, t.stored, span)
	}
	before, err := checkpoint.UnhashedTranscript(ctx, sh.repo, earlier)
	if err != nil {
		return err
	}
	rest, span, err := t.stored.After(ctx, sh.repo, before)
	if err != nil {
		return err
	}
	return sr.readTranscript(ctx, t, rest, span)
}

// findShadow finds the only turn on a shadow branch whose commit id begins with prefix.
func (sh shadowReader) findShadow(ctx context.Context, prefix string) (git.Commit, error) {
	unknown := &NotFoundError{Kind: "checkpoint", Name: prefix}
	refs, err := git.ListRefs(ctx, sh.repo, checkpoint.BranchRefs)
	if err != nil {
		return git.Commit{}, err
	}
	var branches []string
	for _, ref := range refs {
		if checkpoint.IsShadow(ref.Name) {
			branches = append(branches, ref.Name)
		}
	}
	if len(branches) == 0 || prefix == "" {
		return git.Commit{}, unknown
	}
	commits, err := sh.shadowCommits(ctx, branches...)
	if err != nil {
		return git.Commit{}, err
	}
	commits = slices.DeleteFunc(commits, func(c git.Commit) bool { return !strings.HasPrefix(string(c.OID), prefix) })
	switch len(commits) {
	case 0:
		return git.Commit{}, unknown
	case 1:
		return commits[0], nil
	}
	found := make([]git.OID, 0, len(commits))
	for _, c := range commits {
		found = append(found, c.OID)
	}
	return git.Commit{}, ambiguous(prefix, found)
}

// since holds the commits with which a shadow commit is compared.
type since struct{ files, conversation git.Commit }

// since finds the commits with which a shadow commit is compared. For a task it is the parent. A
// turn includes the tasks of its session since the previous turn: its files are compared with those
// before the tasks that directly precede it, its conversation with the conversation before all of
// them.
func (sh shadowReader) since(ctx context.Context, c git.Commit) (since, error) {
	chain, err := git.Commits(ctx, sh.repo, "--first-parent", fmt.Sprintf("--max-count=%d", mostCommits), string(c.OID), "--")
	if err != nil || len(chain) == 0 {
		return since{}, err
	}
	files, conv := 1, 1 // indexes in the chain
	id, _ := sessionOf(c)
	for i := 1; i < len(chain) && trailer(c, checkpoint.TaskKey) == ""; i++ {
		of, _ := sessionOf(chain[i])
		task := trailer(chain[i], checkpoint.TaskKey) != ""
		switch {
		case of != id:
			continue
		case !task:
			i = len(chain)
			continue
		case files == i:
			files++
		}
		conv = i + 1
	}
	var s since
	if s.files, err = sh.before(ctx, chain[files-1]); err != nil {
		return since{}, err
	}
	s.conversation, err = sh.before(ctx, chain[conv-1])
	return s, err
}

// before returns the predecessor of a shadow commit: its parent, or HEAD for the first one of
// HEAD's branch. It is the zero commit if it isn't known.
func (sh shadowReader) before(ctx context.Context, c git.Commit) (git.Commit, error) {
	rev := "HEAD"
	if len(c.Parents) > 0 {
		rev = string(c.Parents[0])
	}
	before, err := sh.repo.Commit(ctx, rev)
	return before, git.UnlessMissing(err)
}

// directory returns the tree at a path, empty if there is none.
func (sh shadowReader) directory(ctx context.Context, tree git.OID, path string) (git.OID, error) {
	entry, found, err := git.LookupPath(ctx, sh.repo, tree, path)
	if err != nil || !found || entry.Mode != git.ModeTree {
		return "", err
	}
	return entry.OID, nil
}
