package git

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zlib"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Repo is a repository, seen from one of its worktrees. Its methods may be
// called at the same time. Close ends the git process that reads may have
// started.
type Repo struct {
	// GitDir, CommonDir and Root are absolute and without symlinks. GitDir is
	// the worktree's own, CommonDir the one that all worktrees share. Root is
	// empty if there is no working tree here.
	GitDir, CommonDir, Root string
	// WorktreeID is the name of a linked worktree, empty for the main one.
	WorktreeID string
	// Bare says that there is no working tree here: a bare repository, or a
	// directory inside a git directory.
	Bare bool
	// Format is the hash function.
	Format Format
	// RefStorage is "files" or "reftable".
	RefStorage string

	dir      string // where discovery began; relative paths start here
	settings repoSettings
	locate   Locate
	explicit bool // GIT_DIR is passed on to git
	objects  string

	processes atomic.Int64
	environ   func() []string
	replaces  func() bool // objects may be replaced by others
	deflaters sync.Pool
	inflaters sync.Pool

	pending pendingObjects

	batchMu sync.Mutex // guards batch, the order of its requests, and lazy
	batch   *batch
	lazy    bool // reads may fetch

	treeMu      sync.Mutex // guards trees, treeEntries and bulk
	trees       map[OID][]TreeEntry
	treeEntries int // of all trees
	bulk        bool

	sshOnce sync.Once // guards ownSSH
	ownSSH  bool      // the user has an ssh command, which we don't replace

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
	r := &Repo{
		GitDir: f.gitDir, CommonDir: f.commonDir, Format: s.format(), RefStorage: s.refStorage(),
		dir: dir, settings: s, locate: l, explicit: f.explicit,
		objects: filepath.Join(f.commonDir, "objects"),
		trees:   make(map[OID][]TreeEntry),
	}
	r.processes.Store(asked)
	r.environ = sync.OnceValue(r.buildEnviron)
	r.replaces = sync.OnceValue(r.lookForReplacements)
	r.deflaters.New = func() any {
		w, err := zlib.NewWriterLevel(nil, zlib.BestSpeed)
		if err != nil {
			panic(err) // the level is a constant
		}
		return w
	}
	if name := l.getenv("GIT_OBJECT_DIRECTORY"); l.Hook && name != "" {
		r.objects = absolute(dir, name)
	}
	if f.gitDir != f.commonDir {
		r.WorktreeID = filepath.Base(f.gitDir)
	}
	if err := r.findRoot(f); err != nil {
		return nil, err
	}
	r.Bare = r.Root == ""
	r.paths = disk.NewResolver(r.Root, dir)
	return r, nil
}

// findRoot finds the root of the working tree by git's rules.
func (r *Repo) findRoot(f found) error {
	root := f.base
	workTree := ""
	if r.locate.Hook {
		workTree = r.locate.getenv("GIT_WORK_TREE")
	}
	switch {
	case workTree != "":
		root = absolute(r.dir, workTree)
	case r.settings.worktree != "":
		root = absolute(f.gitDir, r.settings.worktree)
	case r.settings.bare:
		return nil
	case f.explicit && isFalse(r.locate.getenv("GIT_IMPLICIT_WORK_TREE")):
		return nil
	case f.explicit:
		root = r.dir
	}
	if root == "" {
		return nil
	}
	physical, err := filepath.EvalSymlinks(root)
	if err != nil {
		return fmt.Errorf("resolve working tree: %w", err)
	}
	if _, inside := below(f.gitDir, physical); inside {
		return nil
	}
	r.Root = physical
	// Git would not find the repository from that working tree. In GIT_DIR it takes
	// any: whether it works in this one, permit has asked.
	r.explicit = r.explicit || physical != f.base
	return nil
}

// MainRoot is the root of the main worktree, empty if there is none or if it
// can't be known from here.
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

// GitPath is where git keeps the file name of its directory (hooks, info/exclude),
// absolute: it knows which are shared by worktrees, and core.hooksPath.
func (r *Repo) GitPath(ctx context.Context, name string) (string, error) {
	out, err := r.Run(ctx, "rev-parse", "--path-format=absolute", "--git-path", name)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

func isFalse(value string) bool { return value != "" && !isTrue(value) }
