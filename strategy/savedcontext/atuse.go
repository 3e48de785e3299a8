package savedcontext

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/memory"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// ToolUse is a tool call of an agent that edits files or runs a command.
type ToolUse struct {
	SessionID string
	// Paths are the files that the call edits, absolute or relative to where the repository was
	// searched; Command is the shell command that it runs.
	Paths   []string
	Command string
	// Before is the content of the only file before the call if the call has been made, else nil.
	Before *string
}

// atUse is the search for the line of one tool call or prompt.
type atUse struct {
	w       *workspace.Workspace
	session string
	before  *string
	memory  memory.Memory
	// digests are those of the files that were read, of read bytes together.
	digests map[string]string
	read    int64
}

// AtUse returns a line about what earlier sessions decided, tried or were told about a file that a
// tool call edits, or about the command that it runs, of at most maxLine tokens; empty if there is
// nothing. A fact is given once in a session. One about a file is given only if the file has the
// content that it had when a session last recorded it, a failure only if HEAD and the changed files
// of the branch's sessions are the same.
//
// If the session's memory has nothing about the file, only that is read, and nothing is written.
func AtUse(ctx context.Context, w *workspace.Workspace, use ToolUse) (line string, err error) {
	data, err := w.Sessions.Side(use.SessionID, session.MemoryKind).ReadAll()
	if err != nil || len(data) == 0 {
		return "", err
	}
	var paths []string
	for _, p := range use.Paths {
		if rel, ok := w.Repo.Rel(p); ok && mayHave(data, rel) {
			paths = append(paths, rel)
		}
	}
	ofCommand := use.Command != "" && bytes.Contains(data, []byte(`"command":`))
	if len(paths) == 0 && !ofCommand {
		return "", nil
	}
	a := atUse{w: w, session: use.SessionID, before: use.Before}
	if !a.decode(ctx, data) {
		return "", nil
	}
	for _, p := range paths {
		if line, err := a.aboutFile(p); line != "" || err != nil {
			return line, err
		}
	}
	if ofCommand {
		return a.aboutCommand(use.Command)
	}
	return "", nil
}

// AtPrompt returns a line like that of AtUse about a file that a prompt names, for an agent that
// takes no context at a tool call.
func AtPrompt(ctx context.Context, w *workspace.Workspace, in workspace.Input) (string, error) {
	data, err := w.Sessions.Side(in.SessionID, session.MemoryKind).ReadAll()
	if err != nil || len(data) == 0 {
		return "", err
	}
	a := atUse{w: w, session: in.SessionID}
	if !a.decode(ctx, data) {
		return "", nil
	}
	for _, f := range a.memory.Facts {
		for _, p := range f.Files {
			if !isNamed(w.Repo.Root, p, in.Prompt) {
				continue
			}
			if line, err := a.aboutFile(p); line != "" || err != nil {
				return line, err
			}
		}
	}
	return "", nil
}

// mayHave reports whether the JSON in data may have the path p. It is true for every path whose
// form in JSON may differ.
func mayHave(data []byte, p string) bool {
	name := path.Base(p)
	differs := strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c > '~' || strings.ContainsRune(`"\<>&`, c) })
	return differs || bytes.Contains(data, []byte(name))
}

// decode reads the session's memory. A damaged one is logged, and returns false.
func (a *atUse) decode(ctx context.Context, data []byte) bool {
	err := json.Unmarshal(data, &a.memory)
	if err != nil {
		a.w.Log.WarnContext(ctx, "memory of the session not read", "session_id", a.session, "error", err.Error())
	}
	return err == nil
}

func (a *atUse) aboutFile(p string) (string, error) {
	for _, f := range a.memory.ForFile(p) {
		if a.stateOf(f, p) != Unchanged {
			continue
		}
		if line, err := a.give(f, subject{path: p}); line != "" || err != nil {
			return line, err
		}
	}
	return "", nil
}

func (a *atUse) aboutCommand(command string) (string, error) {
	for _, f := range a.memory.ForCommand(command) {
		if f.Kind == recall.Failure && !a.stillFails(f) {
			continue
		}
		if line, err := a.give(f, subject{command: command}); line != "" || err != nil {
			return line, err
		}
	}
	return "", nil
}

// stateOf returns whether the file p has the content that the fact has recorded of it.
func (a *atUse) stateOf(f memory.Fact, p string) State {
	i := slices.Index(f.Files, p)
	if i < 0 || i >= len(f.Hashes) || f.Hashes[i] == "" {
		return NotKnown
	}
	isSame := a.before == nil && a.digest(p) == f.Hashes[i] || a.before != nil && disk.Digest([]byte(*a.before)) == f.Hashes[i]
	if !isSame {
		return Outdated
	}
	return Unchanged
}

// maxCompared bounds the bytes of files that are read for a tool call.
const maxCompared = 8 << 20

// digest returns the SHA-256 of a regular file, empty if it can't be read or there is no time for it.
func (a *atUse) digest(p string) string {
	if sum, ok := a.digests[p]; ok {
		return sum
	}
	name, sum := filepath.Join(a.w.Repo.Root, filepath.FromSlash(p)), ""
	if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
		if a.read += info.Size(); a.read <= maxCompared {
			if data, err := disk.ReadFile(name); err == nil {
				sum = disk.Digest(data)
			}
		}
	}
	if a.digests == nil {
		a.digests = map[string]string{}
	}
	a.digests[p] = sum
	return sum
}

// stillFails reports whether HEAD and the changed files are those with which a command failed.
// Otherwise it may pass now.
func (a *atUse) stillFails(f memory.Fact) bool {
	head, err := a.w.Repo.ResolveRef("HEAD")
	if err != nil || f.Commit == "" || string(head) != f.Commit || !f.Here {
		return false
	}
	for _, file := range a.memory.Files {
		if file.Use == memory.Changed && file.Hash != "" && a.digest(file.Path) != file.Hash {
			return false
		}
	}
	for i, p := range f.Files {
		if i < len(f.Hashes) && f.Hashes[i] != "" && a.digest(p) != f.Hashes[i] {
			return false
		}
	}
	return true
}

// give returns the line of a fact unless the session was given it before, and records that it was.
func (a *atUse) give(f memory.Fact, about subject) (string, error) {
	line := lineOf(f, about)
	if line == "" {
		return "", nil
	}
	nonce, err := a.w.NewNonce()
	if err != nil {
		return "", err
	}
	const bytesOfKey = 8
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", f.Session, f.Kind, f.Text))
	isNew, err := a.w.Sessions.Side(a.session, session.AtUseKind).Once(hex.EncodeToString(sum[:bytesOfKey]), nonce)
	if err != nil || !isNew {
		return "", err
	}
	return line, nil
}

// isNamed reports whether a text names a file below root by its path, or by its name if that has an
// extension.
func isNamed(root, p, text string) bool {
	name := path.Base(p)
	return hasName(text, p) || path.Ext(name) != "" && hasName(text, name) || hasName(text, root+"/"+p)
}

// hasName reports whether a text has a path that is not a part of a longer one.
func hasName(text, name string) bool {
	isPart := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '/' || c >= 0x80
	}
	for from := 0; ; from++ {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		from += i
		to := from + len(name)
		before := strings.TrimSuffix(text[:from], "./")
		if (before == "" || before[len(before)-1] != '.' && !isPart(before[len(before)-1])) && (to == len(text) || !isPart(text[to])) {
			return true
		}
	}
}
