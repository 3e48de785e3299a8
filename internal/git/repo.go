package git

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/klauspost/compress/zlib"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Repo is a repository as used from one of its worktrees. Its methods are safe for concurrent use.
// Close ends the git process that reads may have started.
type Repo struct {
	// GitDir, CommonDir and Root are absolute and without symlinks. GitDir belongs to the worktree,
	// CommonDir is shared by all worktrees. Root is empty if there is no working tree here.
	GitDir, CommonDir, Root string
	// WorktreeID is the name of a linked worktree, empty for the main one.
	WorktreeID string
	// Bare reports that there is no working tree here: a bare repository, or a
	// directory inside a git directory.
	Bare bool
	// Implicit reports that the git directory is not the .git of the folders around the working directory,
	// as that of a bare repository among the files of another one, and is not named by GIT_DIR.
	Implicit bool
	// Format is the hash function.
	Format Format
	// RefStorage is "files" or "reftable".
	RefStorage string

	// Progress, unless nil, is called with the progress of a transfer or a checkout. It must not be
	// changed while git runs.
	Progress func(Progress)

	// Loose holds the loose objects.
	Loose *LooseObjects
	// Config reads git's configuration.
	Config *Config
	// Notes reads the notes of commits.
	Notes *Notes

	processes *processes
	replaces  func() bool // reports whether replace refs may exist
	packed    packedObjects
	present   presence
	refs      refFiles
	cat       catFile
	trees     treeCache

	paths *disk.Resolver // below Root
}

func (l Locate) open(dir string, f found) (*Repo, error) {
	asked, err := l.permit(f)
	if err != nil {
		return nil, err
	}
	s, err := readSettings(f)
	if err != nil {
		return nil, err
	}
	root, err := l.workTree(dir, f, s)
	if err != nil {
		return nil, err
	}
	r := &Repo{
		GitDir: f.gitDir, CommonDir: f.commonDir, Root: root, Bare: root == "", Implicit: f.base == "" && !f.explicit, Format: SHA1, RefStorage: "files",
		paths: disk.NewResolver(root, dir),
	}
	if s.objectFormat == string(SHA256) {
		r.Format = SHA256
	}
	if strings.HasPrefix(s.refs, "reftable") {
		r.RefStorage = "reftable"
	}
	r.Notes = &Notes{repo: r}
	if f.gitDir != f.commonDir {
		r.WorktreeID = filepath.Base(f.gitDir)
	}
	objects, alternates := filepath.Join(f.commonDir, "objects"), ""
	if l.Hook {
		alternates = l.getenv("GIT_ALTERNATE_OBJECT_DIRECTORIES")
		if name := l.getenv("GIT_OBJECT_DIRECTORY"); name != "" {
			objects = absolute(dir, name)
		}
	}
	r.processes = &processes{
		locate: l, dir: dir, root: root, gitDir: f.gitDir, commonDir: f.commonDir, objects: objects,
		// Git does not find the repository from a working tree other than its own, so GIT_DIR names
		// it. Git accepts any repository there; permit has asked whether it accepts this one.
		explicit: f.explicit || root != "" && root != f.base,
	}
	r.processes.started.Store(asked)
	r.processes.environ = sync.OnceValue(r.processes.buildEnviron)
	r.Loose = &LooseObjects{
		dir: objects, format: r.Format, shared: s.shared, alternates: alternates, pending: pendingObjects{dir: objects},
	}
	r.Loose.pending.loose = r.Loose
	r.Loose.deflaters.New = func() any {
		w, err := zlib.NewWriterLevel(nil, zlib.BestSpeed)
		if err != nil {
			panic(err) // the level is a constant
		}
		return w
	}
	r.packed.loose, r.present.loose = r.Loose, r.Loose
	r.refs = refFiles{gitDir: r.GitDir, commonDir: r.CommonDir, format: r.Format, storage: r.RefStorage}
	r.replaces = sync.OnceValue(r.refs.haveReplacements)
	r.Config = &Config{repo: r}
	r.cat = catFile{processes: r.processes, format: r.Format}
	return r, nil
}

// workTree finds the root of the working tree by git's rules and resolves its symlinks. It returns
// "" if there is none.
func (l Locate) workTree(dir string, f found, s repoSettings) (string, error) {
	root := f.base
	named := ""
	if l.Hook {
		named = l.getenv("GIT_WORK_TREE")
	}
	switch {
	case named != "":
		root = absolute(dir, named)
	case s.worktree != "":
		root = absolute(f.gitDir, s.worktree)
	case s.bare:
		return "", nil
	case f.explicit && l.getenv("GIT_IMPLICIT_WORK_TREE") != "" && !isTrue(l.getenv("GIT_IMPLICIT_WORK_TREE")):
		return "", nil
	case f.explicit:
		root = dir
	}
	if root == "" {
		return "", nil
	}
	physical, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", fmt.Errorf("resolve working tree: %w", err)
	}
	// Both paths are clean.
	const slash = string(filepath.Separator)
	if physical == f.gitDir || strings.HasPrefix(physical, strings.TrimSuffix(f.gitDir, slash)+slash) {
		return "", nil
	}
	return physical, nil
}

// MainRoot returns the root of the main worktree, or "" if there is none or it can't be determined
// from here.
func (r *Repo) MainRoot() string {
	if r.GitDir == r.CommonDir {
		return r.Root
	}
	s, err := readSettings(found{gitDir: r.CommonDir, commonDir: r.CommonDir})
	root := ""
	switch {
	case err != nil:
		return ""
	case s.worktree != "":
		root = absolute(r.CommonDir, s.worktree)
	case !s.bare && filepath.Base(r.CommonDir) == ".git":
		root = filepath.Dir(r.CommonDir)
	}
	if root == "" || !isDir(root) {
		return ""
	}
	return root
}
