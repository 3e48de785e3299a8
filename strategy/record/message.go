package record

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// hintMark begins the line that explains how to decline a link. If a message contains it but no
// trailer, a person removed the trailer.
const hintMark = "Remove the " + checkpoint.TrailerKey + " trailer"

// cutLine is the line, without the comment mark, with which git separates a message from the text
// that is not part of it.
const cutLine = " ------------------------ >8 ------------------------"

// message is a commit message that is being edited: the text of the commit, and the comments below
// it.
type message struct {
	path  string
	prose string // up to the comments, trailers included
	rest  string // comments, and the diff of a verbose commit
	mark  string // prefix of comments; empty if there are none
}

// readMessage reads a message file. A message that was given on the command line and is not edited
// has no comments; all others are searched for comments.
func readMessage(ctx context.Context, w *workspace.Workspace, m CommitMessage) (message, error) {
	path := m.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.Repo.Root, path)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return message{}, fmt.Errorf("read commit message: %s is not a regular file", path)
	}
	data, err := disk.ReadFile(path)
	if err != nil {
		return message{}, fmt.Errorf("read commit message: %w", err)
	}
	if m.Source == "message" && !showsEditor(w) {
		return message{path: path, prose: string(data)}, nil
	}
	return splitMessage(path, string(data), commentMark(ctx, w, string(data))), nil
}

// showsEditor reports whether git starts an editor. If it doesn't, it sets GIT_EDITOR to ":" for
// its hooks.
func showsEditor(w *workspace.Workspace) bool { return w.Env.Getenv("GIT_EDITOR") != ":" }

// commentMark returns the prefix of comment lines.
func commentMark(ctx context.Context, w *workspace.Workspace, text string) string {
	config, err := w.Repo.Config.Match(ctx, `^core\.comment(char|string)$`)
	if err != nil {
		return "#"
	}
	mark := cmp.Or(config["core.commentstring"], config["core.commentchar"], "#")
	if mark != "auto" {
		return mark
	}
	// Git has chosen a character with which no line of the message began, and its own comments are
	// at the end of the file.
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if last := lines[len(lines)-1]; last != "" && strings.ContainsRune("#;@!$%^&|:", rune(last[0])) {
		return last[:1]
	}
	return "#"
}

// splitMessage splits a message before its trailing comments. A cut line and the diff of a verbose
// commit below it count as comments.
func splitMessage(path, text, mark string) message {
	lines := strings.SplitAfter(text, "\n")
	end := len(lines)
	for i, l := range lines {
		if strings.HasPrefix(l, mark+cutLine) {
			end = i
			break
		}
	}
	cut, comments := end, end < len(lines)
	for cut > 0 {
		l := lines[cut-1]
		isComment := strings.HasPrefix(l, mark)
		if !isComment && strings.TrimSpace(l) != "" {
			break
		}
		comments = comments || isComment
		cut--
	}
	if !comments {
		return message{path: path, prose: text}
	}
	for cut < end && !strings.HasPrefix(lines[cut], mark) {
		cut++ // blank lines above the comments remain in the prose
	}
	return message{path: path, prose: strings.Join(lines[:cut], ""), rest: strings.Join(lines[cut:], ""), mark: mark}
}

// add adds the trailers to the message, without duplicates, by git's own rules.
func add(ctx context.Context, w *workspace.Workspace, m *message, ids []checkpoint.ID, hint string) error {
	trailers := trailersOf(ids)
	body := checkpoint.StripIDs(m.prose, ids...)
	switch {
	case strings.TrimSpace(body) == "":
		// The message is empty: the first line is for the subject.
		m.prose = "\n\n" + strings.Join(trailers, "\n") + "\n"
	default:
		out, err := git.AddTrailers(ctx, w.Repo, []byte(strings.TrimSuffix(body, "\n")+"\n"), trailers)
		if err != nil {
			return fmt.Errorf("add trailer: %w", err)
		}
		m.prose = checkpoint.QuoteIDs(string(out), ids...)
	}
	if m.rest == "" {
		return nil
	}
	m.prose = strings.TrimRight(m.prose, "\n") + "\n\n"
	if hint == "" || strings.Contains(m.rest, hintMark) {
		return nil
	}
	if first, below, _ := strings.Cut(m.rest, "\n"); strings.HasPrefix(first, m.mark+cutLine) {
		m.rest = first + "\n" + m.comment(hint) + below // git keeps the text above this line
	} else {
		m.rest = m.comment(hint) + m.rest
	}
	return nil
}

// trailersOf returns the trailer lines that link a commit to checkpoints.
func trailersOf(ids []checkpoint.ID) []string {
	trailers := make([]string, len(ids))
	for i, id := range ids {
		trailers[i] = checkpoint.TrailerKey + ": " + string(id)
	}
	return trailers
}

func (m *message) comment(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString(strings.TrimRight(m.mark+" "+line, " ") + "\n")
	}
	b.WriteString(m.mark + "\n")
	return b.String()
}

func (m *message) write() error {
	return disk.WriteCache(m.path, []byte(m.prose+m.rest), 0o644)
}

// digest returns a digest of the prose without trailers and comments.
func (m *message) digest() string { return workspace.Digest(checkpoint.StripIDs(m.prose)) }
