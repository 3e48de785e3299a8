package testkit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// Kinds names the kinds of repositories that NewRepo can make.
func Kinds() []string {
	names := make([]string, 0, len(kinds()))
	for name := range kinds() {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// NewRepo makes a repository of the given kind below dir, with one commit
// that holds README.md (except kind empty), an identity (except kind
// noidentity), and nothing of this project in it. Repo.Dir is the worktree to
// work in. Unsupported is true where git or the system can't make this kind.
func NewRepo(tb TB, dir, kind string, env Env) (repo *Repo, unsupported bool) {
	tb.Helper()
	build, ok := kinds()[kind]
	if !ok {
		tb.Fatalf("no repository kind %q; there are %s", kind, strings.Join(Kinds(), ", "))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		tb.Fatalf("make folder: %v", err)
	}
	repo = build(&Repo{TB: tb, Dir: dir, Env: env})
	return repo, repo == nil
}

func kinds() map[string]func(base *Repo) *Repo {
	return map[string]func(base *Repo) *Repo{
		"plain":          func(b *Repo) *Repo { return b.initAt("repo").identify().first() },
		"empty":          func(b *Repo) *Repo { return b.initAt("repo").identify() },
		"noidentity":     noIdentity,
		"bare":           func(b *Repo) *Repo { return b.initAt("repo.git", "--bare").identify() },
		"worktree":       linkedWorktree,
		"submodule":      func(b *Repo) *Repo { return superproject(b).At("lib") },
		"superproject":   superproject,
		"separate":       separate,
		"bare-layout":    bareLayout,
		"shared":         func(b *Repo) *Repo { return b.cloneOf("--shared") },
		"shallow":        func(b *Repo) *Repo { return b.cloneOf("--depth=1") },
		"partial":        func(b *Repo) *Repo { return b.cloneOf("--filter=blob:none") },
		"sparse":         sparse,
		"worktreeconfig": worktreeConfig,
		"sha256":         func(b *Repo) *Repo { return b.initAt("repo", "--object-format=sha256").identify().first() },
		"reftable":       reftable,
		"symlink":        symlinked,
		"subdir":         subdirectory,
		"detached":       detached,
		"huge":           huge,
	}
}

// initAt makes an empty repository.
func (r *Repo) initAt(name string, options ...string) *Repo {
	args := append([]string{"init", "-q", "-b", "main"}, options...)
	r.Git(append(args, name)...)
	return r.At(name)
}

// identify gives the repository an identity of its own, and no maintenance by
// itself: in repositories this small git would only look for something to do.
func (r *Repo) identify() *Repo {
	r.TB.Helper()
	config, err := os.OpenFile(r.configPath(), os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = config.WriteString("[user]\n\tname = Ada Tester\n\temail = ada@example.com\n" +
			"[commit]\n\tgpgsign = false\n[maintenance]\n\tauto = false\n")
		err = errors.Join(err, config.Close())
	}
	if err != nil {
		r.TB.Fatalf("configure the repository: %v", err)
	}
	return r
}

// configPath is the repository's configuration, without a git process where it can
// be.
func (r *Repo) configPath() string {
	r.TB.Helper()
	for _, name := range []string{".git/config", "config"} {
		if info, err := os.Stat(r.Path(name)); err == nil && info.Mode().IsRegular() {
			return r.Path(name)
		}
	}
	return filepath.Join(r.CommonDir(), "config")
}

// first makes the first commit.
func (r *Repo) first() *Repo {
	r.Write("README.md", "# A project\n")
	r.Git("add", "README.md")
	r.Git("commit", "-q", "-m", "first")
	return r
}

// cloneOf makes a repository with some history and clones it.
func (r *Repo) cloneOf(options ...string) *Repo {
	origin := r.initAt("origin").identify().first()
	origin.Write("old.txt", "old\n")
	origin.Commit("second")
	origin.Write("old.txt", "older\n")
	origin.Commit("third")
	origin.Git("config", "uploadpack.allowFilter", "true")
	source := origin.Dir
	if !slices.Contains(options, "--shared") {
		source = "file://" + source
	}
	args := append([]string{"clone", "-q"}, options...)
	r.Git(append(args, source, "repo")...)
	return r.At("repo").identify()
}

func noIdentity(b *Repo) *Repo {
	repo := b.initAt("repo")
	repo.Write("README.md", "# A project\n")
	repo.Git("add", "-A")
	repo.Git("-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "-m", "first")
	return repo
}

func linkedWorktree(b *Repo) *Repo {
	b.initAt("main").identify().first().Git("worktree", "add", "-q", "-b", "topic", "../linked tree")
	return b.At("linked tree")
}

func superproject(b *Repo) *Repo {
	b.initAt("library").identify().first()
	super := b.initAt("super").identify().first()
	super.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", filepath.Join(b.Dir, "library"), "lib")
	super.Commit("add the library")
	super.At("lib").identify()
	return super
}

func separate(b *Repo) *Repo {
	return b.initAt("repo", "--separate-git-dir="+filepath.Join(b.Dir, "elsewhere.git")).identify().first()
}

func bareLayout(b *Repo) *Repo {
	b.initAt("source").identify().first()
	project := filepath.Join(b.Dir, "project")
	b.Git("clone", "-q", "--bare", filepath.Join(b.Dir, "source"), filepath.Join(project, ".bare"))
	layout := b.At("project")
	layout.Write(".git", "gitdir: ./.bare\n")
	layout.identify()
	layout.Git("worktree", "add", "-q", "main")
	return layout.At("main")
}

func sparse(b *Repo) *Repo {
	origin := b.initAt("origin").identify().first()
	origin.Write("in/kept.txt", "kept\n")
	origin.Write("out/left.txt", "left out\n")
	origin.Commit("two folders")
	b.Git("clone", "-q", "--no-checkout", origin.Dir, "repo")
	repo := b.At("repo").identify()
	repo.Git("sparse-checkout", "init", "--cone", "--sparse-index")
	repo.Git("sparse-checkout", "set", "in")
	repo.Git("checkout", "-q", "main")
	return repo
}

func worktreeConfig(b *Repo) *Repo {
	repo := b.initAt("repo").identify().first()
	repo.Git("config", "extensions.worktreeConfig", "true")
	repo.Git("config", "--worktree", "core.filemode", "true")
	repo.Git("worktree", "add", "-q", "-b", "topic", "../other")
	return b.At("other")
}

func reftable(b *Repo) *Repo {
	if b.TryGit("init", "-q", "-b", "main", "--ref-format=reftable", "repo").Code != 0 {
		return nil
	}
	return b.At("repo").identify().first()
}

func symlinked(b *Repo) *Repo {
	b.initAt("real").identify().first()
	if err := os.Symlink("real", b.Path("link")); err != nil {
		return nil
	}
	return b.At("link")
}

func subdirectory(b *Repo) *Repo {
	repo := b.initAt("repo").identify().first()
	repo.Write("pkg/sub/doc.txt", "doc\n")
	repo.Commit("a folder")
	return repo.At("pkg/sub")
}

func detached(b *Repo) *Repo {
	repo := b.initAt("repo").identify().first()
	repo.Git("checkout", "-q", "--detach")
	return repo
}

// huge has 100,000 files in 1,000 folders.
func huge(b *Repo) *Repo {
	repo := b.initAt("repo").identify().first()
	var stream strings.Builder
	stream.WriteString("blob\nmark :1\ndata 2\nx\n\n" + commitIn("refs/heads/main", "many\n"))
	stream.WriteString("from refs/heads/main^0\n")
	for i := range 100_000 {
		fmt.Fprintf(&stream, "M 100644 :1 dir%03d/file%05d.txt\n", i%1000, i)
	}
	stream.WriteString("\ndone\n")
	repo.GitInput(stream.String(), "fast-import", "--quiet", "--done")
	repo.Git("reset", "-q", "--hard")
	return repo
}
