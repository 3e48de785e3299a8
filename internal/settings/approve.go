package settings

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// ApprovalsFile returns the path of the file with the values of the project's files that the user
// has approved. It is in the git directory, which a cloned repository can't provide.
func ApprovalsFile(commonDir string) string {
	return filepath.Join(commonDir, "entire", "approved.json")
}

const approvalsVersion = 1

// approvals is the content of ApprovalsFile: the approved value of each key. It does not cover a
// value that the project proposes later.
type approvals struct {
	Version  int               `json:"version"`
	Approved map[string]string `json:"approved"`
}

// Approve records in the git directory that the user accepts exactly the proposed value.
func Approve(commonDir string, p Proposal) error {
	path := ApprovalsFile(commonDir)
	all := readApprovals(path)
	if all == nil {
		all = map[string]string{}
	}
	all[p.Key] = p.Value
	if err := disk.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	if err := disk.WriteJSON(path, approvals{Version: approvalsVersion, Approved: all}); err != nil {
		return fmt.Errorf("approve %s: %w", p.Key, err)
	}
	return nil
}

// readApprovals returns the approved values by key. A damaged file, or one of a later version,
// approves nothing.
func readApprovals(path string) map[string]string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	data, err := readFile(path)
	if err != nil {
		return nil
	}
	var a approvals
	if err := json.Unmarshal(data, &a); err != nil || a.Version != approvalsVersion {
		return nil
	}
	return a.Approved
}

// isApproved reports whether the user has approved the value of a key.
func (l *loader) isApproved(key, value string) bool {
	if l.from.CommonDir == "" {
		return false
	}
	if l.approvals == nil {
		l.approvals = readApprovals(ApprovalsFile(l.from.CommonDir))
		if l.approvals == nil {
			l.approvals = map[string]string{}
		}
	}
	approved, ok := l.approvals[key]
	return ok && approved == value
}

// maxUntrusted is the maximum number of hashes in untrustedFile.
const maxUntrusted = 64

// untrustedFile has the hashes of personal settings that came from the repository and were edited by
// the program: they still count as the repository's.
func untrustedFile(commonDir string) string { return filepath.Join(commonDir, "entire", "brought") }

// IsUntrusted reports whether the content of a personal settings file is in untrustedFile.
func IsUntrusted(commonDir string, content []byte) bool {
	return slices.Contains(untrustedHashes(commonDir), disk.Digest(content))
}

// MarkUntrusted adds a content to untrustedFile. It must be called before the edit.
func MarkUntrusted(commonDir string, content []byte) error {
	hashes := untrustedHashes(commonDir)
	if hash := disk.Digest(content); !slices.Contains(hashes, hash) {
		hashes = append(hashes, hash)
	}
	hashes = hashes[max(0, len(hashes)-maxUntrusted):]
	path := untrustedFile(commonDir)
	if err := disk.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return disk.WriteDurable(path, []byte(strings.Join(hashes, "\n")+"\n"), 0o600)
}

func untrustedHashes(commonDir string) []string {
	data, err := readFile(untrustedFile(commonDir))
	if err != nil {
		return nil
	}
	return strings.Fields(string(data))
}
