package checkpoint

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session"
)

// carrySubject is the subject of a shadow commit without metadata.
const carrySubject = "carry forward: uncommitted session files"

// Tip is the state on which a shadow commit builds.
type Tip struct {
	// Commit is the tip of the shadow branch, which becomes the parent; empty for the first commit
	// of a branch.
	Commit git.OID
	// Tree is the tip's tree, or HEAD's for the first commit; empty if HEAD is unborn.
	Tree git.OID
}

// Shadow holds the session's data for a shadow commit, all of it redacted.
type Shadow struct {
	Session    string
	Strategy   string // ManualCommit if empty
	Subject    string
	Prompts    []string // of this turn
	Summary    string   // the agent's last message in the turn
	Transcript StoredTranscript
	// Tasks are the directories of the session's tasks, which are kept.
	Tasks []git.TreeEntry
}

// MetadataDir returns the directory of a session in shadow trees.
func MetadataDir(sessionID string) string { return ".entire/metadata/" + sessionID }

// WriteShadow writes the shadow commit of a turn: at.Tree with the edits, and with the session's
// metadata directory replaced by the data in sh. It writes objects only. It returns false, and
// makes no commit, if nothing differs from the tip.
func WriteShadow(ctx context.Context, repo *git.Repo, at Tip, edits []git.TreeEdit, sh Shadow, by git.Signature) (git.OID, bool, error) {
	if err := session.CheckID(sh.Session); err != nil {
		return "", false, fmt.Errorf("write shadow commit: %w", err)
	}
	dir, err := writeShadowDir(repo, sh)
	if err != nil {
		return "", false, fmt.Errorf("write shadow commit: %w", err)
	}
	edits = append(slices.Clip(edits), git.TreeEdit{Path: MetadataDir(sh.Session), Mode: git.ModeTree, OID: dir})
	return CommitShadow(ctx, repo, at, edits, ShadowCommit{
		Session: sh.Session, Strategy: sh.Strategy, Subject: sh.Subject, Key: MetadataKey, Dir: MetadataDir(sh.Session), By: by,
	})
}

// Carry holds the session's data for a carry-forward commit.
type Carry struct {
	Session  string
	Strategy string // ManualCommit if empty
	When     time.Time
}

// WriteCarryForward writes the shadow commit of files that a session's commit left pending, without
// metadata and with an empty author. If nothing differs from the tip it returns the tip.
func WriteCarryForward(ctx context.Context, repo *git.Repo, at Tip, edits []git.TreeEdit, c Carry) (git.OID, error) {
	if err := session.CheckID(c.Session); err != nil {
		return "", fmt.Errorf("write carry-forward: %w", err)
	}
	commit, ok, err := CommitShadow(ctx, repo, at, edits, ShadowCommit{
		Session: c.Session, Strategy: c.Strategy, Subject: carrySubject, Key: MetadataKey, By: git.Signature{When: c.When},
	})
	if err == nil && !ok {
		return at.Commit, nil
	}
	return commit, err
}

// ShadowCommit describes a commit of a shadow branch.
type ShadowCommit struct {
	Session  string
	Strategy string // ManualCommit if empty
	Subject  string
	Key, Dir string // the trailer with the directory of the metadata
	By       git.Signature
}

// CommitShadow writes a commit of at.Tree with the edits. It writes objects only. It returns false,
// and makes no commit, if nothing differs from the tip.
func CommitShadow(ctx context.Context, repo *git.Repo, at Tip, edits []git.TreeEdit, c ShadowCommit) (git.OID, bool, error) {
	tree, err := git.EditTree(ctx, repo, at.Tree, edits)
	if err != nil {
		return "", false, fmt.Errorf("write shadow tree: %w", err)
	}
	message := OneLine(c.Subject) + "\n\n" +
		c.Key + ": " + c.Dir + "\n" +
		SessionKey + ": " + c.Session + "\n" +
		StrategyKey + ": " + cmp.Or(c.Strategy, ManualCommit) + "\n"
	commit := git.Commit{Tree: tree, Author: c.By, Committer: c.By, Message: message}
	if at.Commit != "" {
		if tree == at.Tree {
			return "", false, nil
		}
		commit.Parents = []git.OID{at.Commit}
	}
	oid, err := repo.WriteCommit(commit)
	if err != nil {
		return "", false, fmt.Errorf("write shadow commit: %w", err)
	}
	return oid, true, nil
}

// writeShadowDir writes a session's metadata directory.
func writeShadowDir(repo *git.Repo, sh Shadow) (git.OID, error) {
	entries, err := writeFiles(repo, []file{
		{promptFile, []byte(joinPrompts(sh.Prompts))},
		{summaryFile, []byte(sh.Summary)},
		{contextFile, []byte(shadowContext(sh))},
	})
	if err != nil {
		return "", err
	}
	transcript, err := sh.Transcript.Entries()
	if err != nil {
		return "", err
	}
	if len(sh.Tasks) > 0 {
		tasks, err := git.WriteTree(repo, sh.Tasks)
		if err != nil {
			return "", err
		}
		entries = append(entries, git.TreeEntry{Mode: git.ModeTree, Name: TasksDir, OID: tasks})
	}
	return git.WriteTree(repo, append(entries, transcript...))
}

const (
	branchPrefix = "refs/heads/"
	shadowPrefix = "entire/"
	// shortLen and hashLen are the lengths of the two parts of a shadow branch's name.
	shortLen = 7
	hashLen  = 6
)

// ShadowBranch returns the full name of the shadow branch for a base commit and a worktree, whose
// id is empty for the main one. An empty base, in a repository without commits, is replaced by
// zeros.
func ShadowBranch(base git.OID, worktreeID string) string {
	if base == "" {
		base = git.OID(strings.Repeat("0", shortLen))
	}
	return branchPrefix + shadowPrefix + string(base[:min(len(base), shortLen)]) + "-" + WorktreeHash(worktreeID)
}

// WorktreeHash returns the hash of a worktree's id for use in names: e3b0c4 for the main one.
func WorktreeHash(worktreeID string) string {
	return disk.Digest([]byte(worktreeID))[:hashLen]
}

// IsShadow reports whether ref, with or without refs/heads/, names a shadow branch: entire/<7 or
// more hex>, followed by -<6 hex> except in old names.
func IsShadow(ref string) bool {
	_, _, ok := ParseShadow(ref)
	return ok
}

// ParseShadow returns the abbreviated base commit and the hash of the worktree in the name of a
// shadow branch. The hash is empty for old names.
func ParseShadow(ref string) (base, worktree string, ok bool) {
	name, found := strings.CutPrefix(strings.TrimPrefix(ref, branchPrefix), shadowPrefix)
	if !found {
		return "", "", false
	}
	base, worktree, hashed := strings.Cut(strings.ToLower(name), "-")
	if len(base) < shortLen || !plain.IsHex(base) || hashed && (len(worktree) != hashLen || !plain.IsHex(worktree)) {
		return "", "", false
	}
	return base, worktree, true
}
