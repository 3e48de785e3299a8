package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// FileDiff is the difference of a file between two trees. Status may also be R or C, for a file
// that came from OldPath; else OldPath is empty.
type FileDiff struct {
	Change
	OldPath string
	// Binary reports that git does not compare the file by lines.
	Binary bool
	Hunks  []Hunk
	// Added and Removed are numbers of lines.
	Added, Removed int
}

// Hunk is one difference by lines: OldLines lines from Old on are replaced by NewLines lines from
// New on. Lines are counted from 1; if a side has no lines, its start is the line before.
type Hunk struct{ Old, OldLines, New, NewLines int }

// Hunks returns the differences by lines between two trees or commits ("": the empty tree), as git
// diff-tree -p -U0 -M does, independent of the user's settings. It reads at most limit bytes of the
// diff and returns ErrTooMuch if there is more.
func Hunks(ctx context.Context, r *Repo, from, to OID, limit int64) ([]FileDiff, error) {
	args, err := diffArgs(r, from, to, "--raw", "--no-abbrev", "-p", "-U0", "--diff-algorithm=default")
	if err != nil {
		return nil, err
	}
	var files []FileDiff
	err = r.Stream(ctx, Command{Args: args}, func(out io.Reader) error {
		rest := io.LimitedReader{R: out, N: limit + 1}
		var err error
		files, err = parseHunks(r, bufio.NewReaderSize(&rest, 64<<10))
		if rest.N == 0 {
			return ErrTooMuch
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return files, nil
}

func diffArgs(r *Repo, from, to OID, format ...string) ([]string, error) {
	a, errA := treeish(r, from)
	b, errB := treeish(r, to)
	args := append([]string{"diff-tree", "-r", "-z", "-M", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none"}, format...)
	return append(args, a, b, "--"), errors.Join(errA, errB)
}

// parseHunks parses the raw list, which names the files, and the patches, which have the same
// order.
func parseHunks(r *Repo, in *bufio.Reader) ([]FileDiff, error) {
	files, err := parseRawList(r, in)
	if err != nil {
		return nil, err
	}
	place := startOfPatches()
	for {
		line, err := readStart(in)
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		inHunk, err := place.next(line, len(files), func(i int) *FileDiff { return &files[i] })
		if err != nil {
			return nil, err
		}
		if !inHunk {
			continue
		}
		h, err := parseHunk(line)
		if err != nil {
			return nil, err
		}
		f := &files[place.file]
		f.Hunks = append(f.Hunks, h)
		f.Added += h.NewLines
		f.Removed += h.OldLines
	}
}

// patchPlace is the position in the list of files while reading patches, which have its order.
type patchPlace struct {
	file  int  // the index of the file
	again bool // the patch is the second of a file that changed its type
}

func startOfPatches() patchPlace { return patchPlace{file: -1} }

// next processes a line outside of hunks, in the patches of n files. It reports whether the line
// starts a hunk of the current file.
func (p *patchPlace) next(line string, n int, file func(i int) *FileDiff) (hunk bool, err error) {
	switch {
	case strings.HasPrefix(line, "diff --git "):
		if p.again = !p.again && p.file >= 0 && file(p.file).Status == 'T'; p.again {
			return false, nil // the old file is deleted and the new one added
		}
		if p.file++; p.file == n {
			return false, errors.New("more patches than files")
		}
	case p.file < 0:
		return false, fmt.Errorf("unknown line %.80q", line)
	case strings.HasPrefix(line, "Binary files "):
		file(p.file).Binary = true
	}
	return strings.HasPrefix(line, "@@ "), nil
}

// parseRawList parses the raw list up to the empty name that ends it, or the end of input.
func parseRawList(r *Repo, in *bufio.Reader) ([]FileDiff, error) {
	var files []FileDiff
	for {
		next, err := in.Peek(1)
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if next[0] == 0 {
			_, err := in.Discard(1)
			return files, err
		}
		f, err := parseRawEntry(r, in)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
}

// parseRawEntry parses the entry of a file in the raw list.
func parseRawEntry(r *Repo, in *bufio.Reader) (f FileDiff, err error) {
	head, err := in.ReadString(0)
	if err != nil {
		return f, err
	}
	if f.Change, err = parseRawHead(r, strings.TrimSuffix(head, "\x00")); err != nil {
		return f, fmt.Errorf("raw diff: unknown line %q: %w", head, err)
	}
	f.Path, err = in.ReadString(0)
	if err == nil && (f.Status == 'R' || f.Status == 'C') {
		f.OldPath = strings.TrimSuffix(f.Path, "\x00")
		f.Path, err = in.ReadString(0)
	}
	f.Path = strings.TrimSuffix(f.Path, "\x00")
	return f, err
}

// readStart reads a line and returns its beginning: a line in a hunk may have any length.
func readStart(in *bufio.Reader) (string, error) {
	part, more, err := in.ReadLine()
	start := string(part[:min(len(part), 200)])
	for more && err == nil {
		_, more, err = in.ReadLine()
	}
	return start, err
}

// parseHunk parses "@@ -3,0 +4,2 @@ ...".
func parseHunk(line string) (Hunk, error) {
	fields := strings.Fields(line)
	var h Hunk
	if len(fields) < 4 || !strings.HasPrefix(fields[1], "-") || !strings.HasPrefix(fields[2], "+") {
		return h, fmt.Errorf("unknown hunk %q", line)
	}
	var errA, errB error
	h.Old, h.OldLines, errA = parseHunkSpan(fields[1][1:])
	h.New, h.NewLines, errB = parseHunkSpan(fields[2][1:])
	return h, errors.Join(errA, errB)
}

func parseHunkSpan(s string) (start, lines int, err error) {
	first, count, counted := strings.Cut(s, ",")
	start, err = strconv.Atoi(first)
	if lines = 1; counted && err == nil {
		lines, err = strconv.Atoi(count)
	}
	return start, lines, err
}

// LineCounts returns the numbers of added and removed lines for each file that differs between two
// trees or commits, as git diff-tree --numstat -M does. Only the paths and these numbers are
// reliable.
func LineCounts(ctx context.Context, r *Repo, from, to OID) ([]FileDiff, error) {
	args, err := diffArgs(r, from, to, "--numstat", "--diff-algorithm=default")
	if err != nil {
		return nil, err
	}
	out, err := r.Do(ctx, Command{Args: args})
	if err != nil {
		return nil, err
	}
	// "1<tab>2<tab>path", NUL; for a renamed file the path is empty, and both paths follow.
	var files []FileDiff
	for text := string(out); text != ""; {
		head, rest, ok := strings.Cut(text, "\x00")
		fields := strings.SplitN(head, "\t", 3)
		if !ok || len(fields) != 3 {
			return nil, fmt.Errorf("numstat: unknown line %q", head)
		}
		f := FileDiff{Change: Change{Path: fields[2], Status: 'M'}, Binary: fields[0] == "-"}
		if f.Path == "" {
			f.Status = 'R'
			f.OldPath, rest, _ = strings.Cut(rest, "\x00")
			f.Path, rest, _ = strings.Cut(rest, "\x00")
		}
		if !f.Binary {
			var errA, errB error
			f.Added, errA = strconv.Atoi(fields[0])
			f.Removed, errB = strconv.Atoi(fields[1])
			if err := errors.Join(errA, errB); err != nil {
				return nil, fmt.Errorf("numstat: unknown line %q: %w", head, err)
			}
		}
		files = append(files, f)
		text = rest
	}
	return files, nil
}
