package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// BlameLine is the origin of a line of a file. Lines count from 1.
type BlameLine struct {
	// Final is the line number in the requested file.
	Final int
	// Commit added the line as line Orig of Path; it is empty for a line that isn't committed.
	Commit OID
	Path   string
	Orig   int
}

// BlameRequest selects a file and its lines.
type BlameRequest struct {
	// Rev is the revision, empty for the file of the working tree.
	Rev string
	// Path is relative to the root of the worktree.
	Path string
	// Ranges have the form of git's -L; none means the whole file.
	Ranges []string
}

// Blame returns the origins of the file's lines in order, as git blame -M -C -w finds them: moved
// and copied lines, and lines with changes of white space only, belong to the commit that they come
// from. The user's blame.ignoreRevsFile applies. A revision that begins with "-" is an error, as
// git would parse it as an option.
func Blame(ctx context.Context, r *Repo, q BlameRequest) ([]BlameLine, error) {
	if strings.HasPrefix(q.Rev, "-") {
		return nil, fmt.Errorf("%q is not a revision", q.Rev)
	}
	args := []string{"-c", "core.quotePath=false", "blame", "--incremental", "-M", "-C", "-w"}
	for _, lines := range q.Ranges {
		args = append(args, "-L", lines)
	}
	if q.Rev != "" {
		args = append(args, q.Rev)
	}
	args = append(args, "--", q.Path)
	var lines []BlameLine
	err := r.Stream(ctx, Command{Args: args}, func(out io.Reader) (err error) {
		lines, err = parseBlame(bufio.NewReaderSize(out, 64<<10), r.Format)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(lines, func(a, b BlameLine) int { return a.Final - b.Final })
	return lines, nil
}

// maxBlameLines is the maximum number of lines of a file.
const maxBlameLines = 10_000_000

// parseBlame reads blocks of "<commit> <orig> <final> <count>", headers, and "filename <path>".
func parseBlame(in *bufio.Reader, format Format) ([]BlameLine, error) {
	var lines []BlameLine
	var at BlameLine
	count := 0
	for {
		row, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) && row == "" {
			return lines, nil
		}
		if err != nil {
			return nil, err
		}
		key, value, _ := strings.Cut(strings.TrimSuffix(row, "\n"), " ")
		if key == "filename" {
			if at.Path = value; strings.HasPrefix(value, `"`) {
				if path, err := strconv.Unquote(value); err == nil {
					at.Path = path
				}
			}
			if len(lines)+count > maxBlameLines {
				return nil, ErrTooMuch
			}
			for i := range count {
				lines = append(lines, BlameLine{Final: at.Final + i, Commit: at.Commit, Path: at.Path, Orig: at.Orig + i})
			}
			count = 0
			continue
		}
		oid := OID(key)
		if !format.Valid(oid) {
			continue // a header
		}
		if _, err := fmt.Sscanf(value, "%d %d %d", &at.Orig, &at.Final, &count); err != nil || at.Orig < 1 || at.Final < 1 || count < 1 {
			return nil, fmt.Errorf("blame: unknown line %q", row)
		}
		if at.Commit = oid; oid == format.Zero() {
			at.Commit = ""
		}
	}
}

// ResolveNames returns the OIDs of object names such as "<commit>:<path>", with one git process.
// The OID is "" for names that can't be resolved, and for names with a line break.
func ResolveNames(ctx context.Context, r *Repo, names []string) ([]OID, error) {
	if len(names) == 0 {
		return nil, nil
	}
	var in strings.Builder
	for _, name := range names {
		if strings.ContainsAny(name, "\n\x00") {
			name = string(r.Format.Zero())
		}
		in.WriteString(name + "\n")
	}
	out, err := r.Do(ctx, Command{Args: []string{"cat-file", "--batch-check=%(objectname)", "--buffer"}, Stdin: strings.NewReader(in.String())})
	if err != nil {
		return nil, fmt.Errorf("resolve names: %w", err)
	}
	found := make([]OID, 0, len(names))
	for row := range strings.Lines(string(out)) {
		oid := OID(strings.TrimSuffix(row, "\n"))
		if !r.Format.Valid(oid) {
			oid = "" // missing, ambiguous, or excluded
		}
		found = append(found, oid)
	}
	if len(found) != len(names) {
		return nil, errors.New("resolve names: " + strconv.Itoa(len(found)) + " replies to " + strconv.Itoa(len(names)) + " names")
	}
	return found, nil
}

// BlameContaining returns lines of the worktree's tracked files that contain a text, at most limit
// of them, with Path and Final set. It is not an error if there are none.
func BlameContaining(ctx context.Context, r *Repo, text string, limit int) ([]BlameLine, error) {
	args := []string{"-c", "core.quotePath=false", "-c", "grep.fallbackToNoIndex=false", "grep", "-z", "-n", "-I", "-F", "--no-color", "--full-name", "-m", strconv.Itoa(limit), "-e", text}
	out, err := r.Run(ctx, args...)
	if exit, isExit := errors.AsType[*ExitError](err); isExit && exit.Code == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []BlameLine
	rest := string(out)
	for rest != "" && len(found) < limit {
		path, tail, okA := strings.Cut(rest, "\x00")
		number, tail, okB := strings.Cut(tail, "\x00")
		_, tail, okC := strings.Cut(tail, "\n")
		n, _ := strconv.Atoi(number) // 0 if it is not a number
		if !okA || !okB || !okC && tail != "" || n < 1 {
			break
		}
		found = append(found, BlameLine{Final: n, Path: path})
		rest = tail
	}
	return found, nil
}

// Pickaxe returns the newest commit that added or removed a text, and the path of a file in which
// it did. found is false if there is none.
func Pickaxe(ctx context.Context, r *Repo, text string) (commit OID, path string, found bool, err error) {
	out, err := r.Run(ctx, "-c", "core.quotePath=false", "log", "-1", "-z", "--format=%H", "--name-only", "--no-renames", "-S"+text, "HEAD", "--")
	if err != nil {
		return "", "", false, err
	}
	head, rest, _ := strings.Cut(string(out), "\n")
	oid := OID(strings.Trim(head, "\x00\n"))
	if !r.Format.Valid(oid) {
		return "", "", false, nil
	}
	path, _, _ = strings.Cut(strings.TrimLeft(rest, "\n\x00"), "\x00")
	return oid, path, true, nil
}
