package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Patch is the difference of a file with its lines.
type Patch struct {
	FileDiff
	// Texts holds the lines of each of Hunks, with three lines of context. Each begins with a
	// space, + or -, without the line end. They are nil from the hunk on at which the commit would
	// exceed the limit.
	Texts [][]string
}

// FetchDiffs fetches the blobs that a partial clone lacks of the differences of commits from their
// parents, given by arguments of git log.
func FetchDiffs(ctx context.Context, r *Repo, revs ...string) error {
	if partial, err := r.IsPartial(); err != nil || !partial {
		return err
	}
	args := append([]string{"log", "--no-merges", "--format=", "--no-ext-diff", "--no-textconv", "-M", "--numstat"}, revs...)
	return r.Stream(ctx, Command{Args: append(args, "--"), LazyFetch: true}, func(out io.Reader) error {
		_, err := io.Copy(io.Discard, out)
		return err
	})
}

// Patches calls yield for each of the commits, in their order, with its differences from its
// parent, as git show -U3 -M prints them, independent of the user's settings. A merge, and a commit
// without changes, has no patches. At most limit bytes of lines are returned per commit. One
// process reads all commits.
func Patches(ctx context.Context, r *Repo, commits []OID, limit int, yield func(commit OID, files []Patch) error) error {
	if len(commits) == 0 {
		return nil
	}
	var in strings.Builder
	for _, oid := range commits {
		if !r.Format.Valid(oid) {
			return fmt.Errorf("diff of commits: %q is no object id", oid)
		}
		in.WriteString(string(oid) + "\n")
	}
	args := []string{
		"diff-tree", "--stdin", "--root", "-r", "-z", "-M", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none",
		"--always", "--raw", "--no-abbrev", "-p", "-U3", "--diff-algorithm=default", "--no-color", "--src-prefix=a/", "--dst-prefix=b/",
	}
	return r.Stream(ctx, Command{Args: args, Stdin: strings.NewReader(in.String())}, func(out io.Reader) error {
		p := patchReader{repo: r, in: bufio.NewReaderSize(out, 64<<10), limit: limit}
		for {
			name, err := p.in.ReadString(0)
			if errors.Is(err, io.EOF) && name == "" {
				return nil
			}
			commit := OID(strings.TrimSuffix(name, "\x00"))
			if err != nil || !r.Format.Valid(commit) {
				return fmt.Errorf("diff of commits: unknown line %.80q", name)
			}
			files, err := p.files()
			if err != nil {
				return fmt.Errorf("diff of commit %s: %w", commit.Short(), err)
			}
			if err := yield(commit, files); err != nil {
				return err
			}
		}
	})
}

// patchReader parses the output of git diff-tree --stdin -z --raw -p.
type patchReader struct {
	repo  *Repo
	in    *bufio.Reader
	limit int // bytes of lines of a commit
	room  int // bytes that remain of limit
}

// atCommit reports whether the name of a commit or the end follows.
func (p *patchReader) atCommit() bool {
	n := p.repo.Format.HexLen()
	next, err := p.in.Peek(n + 1)
	if err != nil {
		return len(next) == 0
	}
	return next[n] == 0 && p.repo.Format.Valid(OID(next[:n]))
}

// files reads the patches of a commit.
func (p *patchReader) files() ([]Patch, error) {
	p.room = p.limit
	var files []Patch
	for !p.atCommit() {
		next, err := p.in.Peek(1)
		if err != nil || next[0] != ':' {
			break
		}
		raw, err := parseRawEntry(p.repo, p.in)
		if err != nil {
			return nil, err
		}
		files = append(files, Patch{FileDiff: raw})
	}
	if next, err := p.in.Peek(1); err == nil && next[0] == 0 { // between the list and the patches
		_, _ = p.in.Discard(1)
	}
	place := startOfPatches()
	for !p.atCommit() {
		line, err := readStart(p.in)
		if err != nil {
			return nil, err
		}
		inHunk, err := place.next(line, len(files), func(i int) *FileDiff { return &files[i].FileDiff })
		if err != nil {
			return nil, err
		}
		if !inHunk {
			continue
		}
		if err := p.hunk(&files[place.file], line); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// hunk reads the lines of a hunk. It relies on the counts in the header, not on the lines' text.
func (p *patchReader) hunk(f *Patch, header string) error {
	h, err := parseHunk(header)
	if err != nil {
		return err
	}
	var lines []string
	old, now := h.OldLines, h.NewLines
	for old > 0 || now > 0 {
		line, err := p.in.ReadString('\n')
		if err != nil {
			return err
		}
		switch line[0] {
		case '+':
			now--
			f.Added++
		case '-':
			old--
			f.Removed++
		case ' ', '\n':
			old, now = old-1, now-1
		case '\\':
			continue // no newline at the end
		default:
			return fmt.Errorf("unknown line %.80q", line)
		}
		if p.room -= len(line); p.room >= 0 {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	if next, err := p.in.Peek(1); err == nil && next[0] == '\\' {
		if _, err := readStart(p.in); err != nil {
			return err
		}
	}
	if p.room < 0 {
		lines = nil
	}
	f.Hunks, f.Texts = append(f.Hunks, h), append(f.Texts, lines)
	return nil
}
