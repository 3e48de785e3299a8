package gitdiff

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
)

// FileDiff is how a file differs between two trees. Status may also be R or C,
// of a file that came from OldPath; else OldPath is empty.
type FileDiff struct {
	Change
	OldPath string
	// Binary reports that git compares no lines of it.
	Binary bool
	Hunks  []Hunk
	// Added and Removed are the numbers of its lines.
	Added, Removed int
}

// Hunk is one place at which lines differ: OldLines lines from Old on gave way
// to NewLines lines from New on. Lines are counted from 1; where a side has no
// lines it names the one before.
type Hunk struct{ Old, OldLines, New, NewLines int }

// Hunks returns by lines how two trees or commits differ ("": the empty tree), as
// git diff-tree -p -U0 -M does, whatever the user's settings. It reads at most
// limit bytes of that: ErrTooMuch if there is more.
func Hunks(ctx context.Context, r *git.Repo, from, to git.OID, limit int64) ([]FileDiff, error) {
	args, err := diffArgs(r, from, to, "--raw", "--no-abbrev", "-p", "-U0", "--diff-algorithm=default")
	if err != nil {
		return nil, err
	}
	var files []FileDiff
	err = r.Stream(ctx, git.Command{Args: args}, func(out io.Reader) error {
		rest := io.LimitedReader{R: out, N: limit + 1}
		var err error
		files, err = parseHunks(r, bufio.NewReaderSize(&rest, 64<<10))
		if rest.N == 0 {
			return git.ErrTooMuch
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return files, nil
}

func diffArgs(r *git.Repo, from, to git.OID, format ...string) ([]string, error) {
	a, errA := treeish(r, from)
	b, errB := treeish(r, to)
	args := append([]string{"diff-tree", "-r", "-z", "-M", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none"}, format...)
	return append(args, a, b, "--"), errors.Join(errA, errB)
}

// parseHunks reads the raw list, which names the files, and the patches, which
// are in the same order.
func parseHunks(r *git.Repo, in *bufio.Reader) ([]FileDiff, error) {
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

// patchPlace is where a reader of patches is in the list of files, which has their order.
type patchPlace struct {
	file  int  // the index of the file
	again bool // the patch is the second of a file that changed its type
}

func startOfPatches() patchPlace { return patchPlace{file: -1} }

// next takes a line outside of hunks, of patches of n files. It reports whether a hunk of
// the file begins with it.
func (p *patchPlace) next(line string, n int, file func(i int) *FileDiff) (hunk bool, err error) {
	switch {
	case strings.HasPrefix(line, "diff --git "):
		if p.again = !p.again && p.file >= 0 && file(p.file).Status == 'T'; p.again {
			return false, nil // a file that goes, and what comes in its place
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

// parseRawList reads the raw list up to the empty name that ends it, or the end.
func parseRawList(r *git.Repo, in *bufio.Reader) ([]FileDiff, error) {
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

// parseRawEntry reads a file of the raw list.
func parseRawEntry(r *git.Repo, in *bufio.Reader) (f FileDiff, err error) {
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

// readStart reads a line and returns its beginning: what a hunk holds may be
// one line of any length.
func readStart(in *bufio.Reader) (string, error) {
	part, more, err := in.ReadLine()
	start := string(part[:min(len(part), 200)])
	for more && err == nil {
		_, more, err = in.ReadLine()
	}
	return start, err
}

// parseHunk reads "@@ -3,0 +4,2 @@ ...".
func parseHunk(line string) (Hunk, error) {
	fields := strings.Fields(line)
	var h Hunk
	if len(fields) < 4 || !strings.HasPrefix(fields[1], "-") || !strings.HasPrefix(fields[2], "+") {
		return h, fmt.Errorf("unknown hunk %q", line)
	}
	var errA, errB error
	h.Old, h.OldLines, errA = parseSpan(fields[1][1:])
	h.New, h.NewLines, errB = parseSpan(fields[2][1:])
	return h, errors.Join(errA, errB)
}

func parseSpan(s string) (start, lines int, err error) {
	first, count, counted := strings.Cut(s, ",")
	start, err = strconv.Atoi(first)
	if lines = 1; counted && err == nil {
		lines, err = strconv.Atoi(count)
	}
	return start, lines, err
}

// LineCounts returns for each file that differs between two trees or commits how
// many lines do, as git diff-tree --numstat -M does. Nothing but the paths and
// those numbers is known.
func LineCounts(ctx context.Context, r *git.Repo, from, to git.OID) ([]FileDiff, error) {
	args, err := diffArgs(r, from, to, "--numstat", "--diff-algorithm=default")
	if err != nil {
		return nil, err
	}
	out, err := r.Do(ctx, git.Command{Args: args})
	if err != nil {
		return nil, err
	}
	// "1<tab>2<tab>path", NUL; of a file that came from elsewhere the path is empty, and both paths
	// follow.
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
