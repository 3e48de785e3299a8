package redact

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/redact/ownrules"
)

// Limits of the search for files with secrets.
const (
	maxSecretFiles = 32
	maxSecretSize  = 64 << 10
	maxDirs        = 64
	maxDirEntries  = 512 // of one folder
	maxEntries     = 2048
	maxDirDepth    = 2
)

type secretFileKind uint8

const (
	fileOther secretFileKind = iota
	fileEnv
	fileKey
	fileNetrc
	filePgpass
)

// secretFile returns the kind of secrets in a file with that name. Samples have none.
func secretFile(name string) secretFileKind {
	low := strings.ToLower(name)
	switch {
	case low == ".netrc" || low == "_netrc":
		return fileNetrc
	case low == ".pgpass" || low == "pgpass.conf":
		return filePgpass
	case low == ".npmrc" || low == ".pypirc" || low == ".envrc" || low == ".env" || strings.HasSuffix(low, ".env"):
		return fileEnv
	case strings.HasPrefix(low, ".env."):
		switch filepath.Ext(low) {
		case ".example", ".sample", ".template", ".dist", ".defaults", ".schema":
			return fileOther
		}
		return fileEnv
	case strings.HasSuffix(low, ".pem") || strings.HasSuffix(low, ".key") || strings.HasSuffix(low, ".p8") || strings.HasSuffix(low, ".ppk"):
		return fileKey
	case strings.HasPrefix(low, "id_") && filepath.Ext(low) == "":
		return fileKey
	}
	return fileOther
}

// readKnown reads the secrets in files of a worktree: first the files with usual names in
// its root, then those found by a bounded search two levels deep. It returns nil if there
// are none.
func readKnown(root string) *knownValues {
	if root == "" {
		return nil
	}
	s := secretFiles{root: root, seen: make(map[string]bool)}
	for _, name := range []string{
		".env", ".env.local", ".env.development", ".env.development.local", ".env.production", ".env.production.local",
		".env.staging", ".env.test", ".env.dev", ".env.prod", ".envrc", ".netrc", ".pgpass", ".npmrc",
	} {
		s.read(name)
	}
	dirs := []string{""}
	for depth := 0; depth <= maxDirDepth && len(dirs) > 0; depth++ {
		var below []string
		for _, dir := range dirs {
			below = append(below, s.list(dir)...)
		}
		dirs = below
	}
	return s.withEnvironment()
}

// withEnvironment adds the variables of the environment whose names say that they are secrets, and
// returns all values.
func (s *secretFiles) withEnvironment() *knownValues {
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if name == "PWD" || name == "OLDPWD" || filepath.IsAbs(value) {
			continue // folders, and files with secrets
		}
		switch ownrules.Classify([]byte(name)) {
		case ownrules.KindPassword, ownrules.KindSecret, ownrules.KindKey:
			if s.known == nil {
				s.known = newKnownValues()
			}
			s.known.addNamed([]byte(name), []byte(value))
		case ownrules.KindNone, ownrules.KindPin, ownrules.KindHeader, ownrules.KindCookie:
		}
	}
	return s.known
}

// secretFiles is a search for files with secrets.
type secretFiles struct {
	root                string
	seen                map[string]bool
	files, dirs, listed int
	known               *knownValues
}

// list reads the files of a folder and returns the folders in it.
func (s *secretFiles) list(dir string) (dirs []string) {
	if s.dirs++; s.dirs > maxDirs || s.listed >= maxEntries {
		return nil
	}
	f, err := os.Open(filepath.Join(s.root, dir))
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // only read
	entries, err := f.ReadDir(min(maxDirEntries, maxEntries-s.listed))
	if err != nil {
		return nil
	}
	s.listed += len(entries)
	for _, e := range entries {
		switch {
		case e.IsDir():
			// Skip folders of generated, installed or third-party files.
			if !slices.Contains([]string{
				".git", "node_modules", "vendor", "target", "dist", "build", ".venv", "venv", "__pycache__", ".entire", ".cache",
			}, e.Name()) {
				dirs = append(dirs, filepath.Join(dir, e.Name()))
			}
		case secretFile(e.Name()) != fileOther:
			s.read(filepath.Join(dir, e.Name()))
		}
	}
	return dirs
}

// read adds the secrets in a file. It skips anything but small regular files.
func (s *secretFiles) read(name string) {
	if s.files >= maxSecretFiles || s.seen[name] {
		return
	}
	path := filepath.Join(s.root, name)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSecretSize {
		return
	}
	s.seen[name] = true
	s.files++
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(f, maxSecretSize))
	if err != nil {
		return
	}
	if s.known == nil {
		s.known = newKnownValues()
	}
	s.known.addFile(filepath.Base(name), data)
}
