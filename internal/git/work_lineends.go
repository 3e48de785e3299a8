package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// indexArgs is the maximum number of paths on one command line.
const indexArgs = 200

// keepLineEnds corrects the results of hash-object: under text=auto `git add` keeps the line ends
// of a file if the index has it with CRLF, but hash-object doesn't read the index. The affected
// files are added to a temporary index; in a repository without such files no process is started.
func keepLineEnds(ctx context.Context, r *Repo, how hashing, oids map[string]OID) error {
	var converted []string
	for path, oid := range oids {
		// A file that fails here was removed meanwhile.
		if yes, err := isConverted(r, path, oid); err == nil && yes {
			converted = append(converted, path)
		}
	}
	indexed, err := indexedWithCRLF(ctx, r, converted)
	if err != nil {
		return fmt.Errorf("hash files with CRLF: %w", err)
	}
	if len(indexed) == 0 {
		return nil
	}
	added, err := addToOwnIndex(ctx, r, how, indexed)
	if err != nil {
		return fmt.Errorf("hash files with CRLF: %w", err)
	}
	for path := range indexed {
		delete(oids, path)
	}
	maps.Copy(oids, added)
	return nil
}

// indexedWithCRLF returns those of paths whose blob in the index contains CRLF.
func indexedWithCRLF(ctx context.Context, r *Repo, paths []string) (map[string]OID, error) {
	indexed := make(map[string]OID)
	for some := range slices.Chunk(paths, indexArgs) {
		args := []string{"--literal-pathspecs", "ls-files", "-s", "-z", "--"}
		out, err := r.Run(ctx, append(args, some...)...)
		if err != nil {
			return nil, err
		}
		staged, err := parseStaged(string(out))
		if err != nil {
			return nil, err
		}
		for path, oid := range staged {
			blob, err := r.Read(ctx, string(oid))
			if errors.Is(err, ErrMissing) {
				continue // a partial clone
			}
			if err != nil {
				return nil, err
			}
			if bytes.Contains(blob.Data, []byte("\r\n")) {
				indexed[path] = oid
			}
		}
	}
	return indexed, nil
}

// isConverted reports whether a file contains CRLF and oid isn't the hash of its unchanged content.
func isConverted(r *Repo, path string, oid OID) (yes bool, err error) {
	f, err := os.Open(filepath.Join(r.Root, filepath.FromSlash(path)))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	crlf, err := hasCRLF(f)
	if err != nil || !crlf {
		return false, err
	}
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	raw, err := r.Format.HashReader("blob", int(info.Size()), f)
	return raw != oid, err
}

func hasCRLF(f io.Reader) (bool, error) {
	buf := make([]byte, 64<<10)
	last := byte(0)
	for {
		n, err := f.Read(buf)
		if n > 0 {
			got := buf[:n]
			if last == '\r' && got[0] == '\n' || bytes.Contains(got, []byte("\r\n")) {
				return true, nil
			}
			last = got[len(got)-1]
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// addToOwnIndex adds files to a temporary index, which gets their entries of the real index first,
// and returns the resulting blobs.
func addToOwnIndex(ctx context.Context, r *Repo, how hashing, indexed map[string]OID) (oids map[string]OID, err error) {
	dir, err := os.MkdirTemp("", "entire-index-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	env := append(slices.Clone(how.env), "GIT_INDEX_FILE="+filepath.Join(dir, "index"))
	for paths := range slices.Chunk(slices.Sorted(maps.Keys(indexed)), indexArgs) {
		args := []string{
			"-c", "core.safecrlf=false", "-c", "core.splitIndex=false", "-c", "core.fsmonitor=false",
			"-c", "core.untrackedCache=false", "update-index", "--add", "--remove",
		}
		if how.mode == HashOnly {
			args = append(args, "--info-only")
		}
		for _, p := range paths {
			if how.mode == HashAndStore {
				err = errors.Join(err, disk.Step("object", p))
			}
			args = append(args, "--cacheinfo", ModeFile.String()+","+string(indexed[p])+","+p)
		}
		if err != nil {
			return nil, err
		}
		in := strings.NewReader(strings.Join(paths, "\x00") + "\x00")
		if _, err := r.Do(ctx, Command{Args: append(args, "-z", "--stdin"), Stdin: in, Env: env}); err != nil {
			return nil, err
		}
	}
	out, err := r.Do(ctx, Command{Args: []string{"ls-files", "-s", "-z"}, Env: env})
	if err != nil {
		return nil, err
	}
	return parseStaged(string(out))
}

// parseStaged parses "<mode> <oid> <stage>", tab, path, NUL, and so on.
func parseStaged(out string) (map[string]OID, error) {
	oids := make(map[string]OID)
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if line == "" {
			continue
		}
		head, path, ok := strings.Cut(line, "\t")
		fields := strings.Fields(head)
		if !ok || len(fields) != 3 {
			return nil, fmt.Errorf("git ls-files: unknown line %q", line)
		}
		if fields[2] == "0" { // not a side of a conflict
			oids[path] = OID(fields[1])
		}
	}
	return oids, nil
}
