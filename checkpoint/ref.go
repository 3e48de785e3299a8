package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
)

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
	sum := sha256.Sum256([]byte(worktreeID))
	return hex.EncodeToString(sum[:])[:hashLen]
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
	if len(base) < shortLen || !isHex(base) || hashed && (len(worktree) != hashLen || !isHex(worktree)) {
		return "", "", false
	}
	return base, worktree, true
}
