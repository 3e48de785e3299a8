package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

const (
	// maxVerbatim is the maximum size of a file hashed in this process, maxVerbatimBytes of all
	// such files together.
	maxVerbatim      = 1 << 20
	maxVerbatimBytes = 8 << 20
)

// hashVerbatim hashes the files that git would store unchanged, and stores them as mode says. It
// returns the paths that it leaves to git: those that an attribute may apply to, large files, and
// unreadable ones; or all paths if settings convert files.
func hashVerbatim(ctx context.Context, r *Repo, mode HashMode, paths []string, oids map[string]OID) (rest []string, err error) {
	if len(paths) == 0 {
		return nil, nil
	}
	attributes, ok := newAttributeFiles(ctx, r)
	if !ok {
		return paths, nil
	}
	left := int64(maxVerbatimBytes)
	for _, p := range paths {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("hash files: %w", err)
		}
		data, ok := []byte(nil), false
		if !attributes.within(path.Dir(p)) {
			data, ok = readRegular(filepath.Join(r.Root, filepath.FromSlash(p)), min(left, maxVerbatim))
		}
		if !ok {
			rest = append(rest, p)
			continue
		}
		left -= int64(len(data))
		if mode == HashOnly {
			oids[p] = r.Format.HashBlob(data)
			continue
		}
		oid, err := r.WriteBlob(data)
		if err != nil {
			return nil, fmt.Errorf("hash %q: %w", p, err)
		}
		oids[p] = oid
	}
	return rest, nil
}

// readRegular returns the content of a regular file of up to most bytes, and false for anything
// else.
func readRegular(name string, most int64) ([]byte, bool) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return nil, false
	}
	data := make([]byte, info.Size(), info.Size()+1)
	n, err := io.ReadFull(f, data[:cap(data)])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, false
	}
	return data[:n:n], int64(n) == info.Size() // else the file is being written
}

// attributeFiles determines whether git has attributes for paths of a working tree.
type attributeFiles struct {
	root string
	dirs map[string]bool // whether a directory or one above it has a .gitattributes
}

// newAttributeFiles returns false if a setting converts files, if there are attributes for all
// repositories or all paths of this one, and if that can't be determined.
func newAttributeFiles(ctx context.Context, r *Repo) (*attributeFiles, bool) {
	vars, err := r.Config.Variables(ctx)
	_, fromTree := r.Config.LookupEnv("GIT_ATTR_SOURCE")
	if err != nil || fromTree || len(vars["attr.tree"]) > 0 {
		return nil, false
	}
	for _, value := range vars["core.autocrlf"] {
		if !slices.Contains([]string{"false", "no", "off", "0", ""}, strings.ToLower(value)) {
			return nil, false
		}
	}
	// Attribute files outside of the working tree.
	shared := []string{filepath.Join(r.CommonDir, "info", "attributes"), filepath.Join(r.GitDir, "info", "attributes")}
	if global := vars["GIT_ATTR_GLOBAL"]; len(global) > 0 { // since git 2.41
		shared = slices.Concat(shared, global, vars["GIT_ATTR_SYSTEM"])
		if slices.ContainsFunc(shared, func(f string) bool { return !filepath.IsAbs(f) }) {
			return nil, false
		}
	} else {
		user, knowsUser := userAttributes(r, vars["core.attributesfile"])
		system, knowsSystem := systemAttributes()
		if !knowsUser || !knowsSystem {
			return nil, false
		}
		shared = append(append(shared, user), system...)
	}
	if slices.ContainsFunc(shared, exists) {
		return nil, false
	}
	return &attributeFiles{root: r.Root, dirs: map[string]bool{}}, true
}

// userAttributes returns the user's attributes file by git's rules: named by a setting, or in its
// usual place.
func userAttributes(r *Repo, named []string) (string, bool) {
	home, _ := r.Config.LookupEnv("HOME")
	name := lastValue(named)
	switch config, _ := r.Config.LookupEnv("XDG_CONFIG_HOME"); {
	case len(named) > 0 && filepath.IsAbs(name):
		return name, true
	case len(named) > 0 && strings.HasPrefix(name, "~/") && home != "":
		return filepath.Join(home, name[2:]), true
	case len(named) > 0:
		return "", false
	case config != "":
		return filepath.Join(config, "git", "attributes"), true
	default:
		return filepath.Join(home, ".config", "git", "attributes"), home != ""
	}
}

// systemAttributes returns possible paths of attributes for all users, which git before 2.41
// doesn't print: in /etc, or in the directory where git was installed.
func systemAttributes() (files []string, known bool) {
	if runtime.GOOS != "linux" {
		return nil, false
	}
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, false
	}
	files = []string{"/etc/gitattributes", filepath.Join(filepath.Dir(program), "..", "etc", "gitattributes")}
	if target, err := filepath.EvalSymlinks(program); err == nil {
		files = append(files, filepath.Join(filepath.Dir(target), "..", "etc", "gitattributes"))
	}
	return files, true
}

// within reports whether a directory or one above it has an attributes file.
func (a *attributeFiles) within(dir string) bool {
	if found, known := a.dirs[dir]; known {
		return found
	}
	found := exists(filepath.Join(a.root, filepath.FromSlash(dir), ".gitattributes")) || dir != "." && a.within(path.Dir(dir))
	a.dirs[dir] = found
	return found
}

// exists reports whether the path exists. It returns true if that can't be determined.
func exists(name string) bool {
	_, err := os.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}
