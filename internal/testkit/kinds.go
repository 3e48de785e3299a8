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

// NewRepo makes a repository of the given kind below dir, with one commit of README.md (except kind
// empty), an identity (except kind noidentity), and no files of this project. Repo.Dir is the
// worktree. Unsupported is true if git or the system can't make this kind.
func NewRepo(tb TB, dir, kind string, env Env) (repo *Repo, unsupported bool) {
	tb.Helper()
	build, ok := kinds()[kind]
	if !ok {
		tb.Fatalf("no repository kind %q; there are %s", kind, strings.Join(Kinds(), ", "))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		tb.Fatalf("make folder: %v", err)
	}
	repo = build(builder{&Repo{TB: tb, Dir: dir, Env: env}}).Repo
	return repo, repo == nil
}

// builder makes repositories. Repo is the folder for one, or the new repository; nil if git or the
// system can't make that kind.
type builder struct{ *Repo }

func (b builder) at(dir string) builder { return builder{b.At(dir)} }

func kinds() map[string]func(b builder) builder {
	return map[string]func(b builder) builder{
		"plain":          func(b builder) builder { return b.initAt("repo").identify().first() },
		"empty":          func(b builder) builder { return b.initAt("repo").identify() },
		"noidentity":     noIdentity,
		"bare":           func(b builder) builder { return b.initAt("repo.git", "--bare").identify() },
		"worktree":       linkedWorktree,
		"submodule":      func(b builder) builder { return superproject(b).at("lib") },
		"superproject":   superproject,
		"separate":       separate,
		"bare-layout":    bareLayout,
		"shared":         func(b builder) builder { return b.cloneOf("--shared") },
		"shallow":        func(b builder) builder { return b.cloneOf("--depth=1") },
		"partial":        func(b builder) builder { return b.cloneOf("--filter=blob:none") },
		"sparse":         sparse,
		"worktreeconfig": worktreeConfig,
		"sha256":         func(b builder) builder { return b.initAt("repo", "--object-format=sha256").identify().first() },
		"reftable":       reftable,
		"symlink":        symlinked,
		"subdir":         subdirectory,
		"brackets":       func(b builder) builder { return b.initAt("[w]/r").identify().first() },
		"detached":       detached,
		"huge":           huge,
	}
}

// initAt makes an empty repository.
func (b builder) initAt(name string, options ...string) builder {
	args := append([]string{"init", "-q", "-b", "main"}, options...)
	b.Git(append(args, name)...)
	return b.at(name)
}

// identify sets an identity in the repository's configuration, and disables automatic maintenance,
// which would find nothing to do in repositories this small.
func (b builder) identify() builder {
	b.TB.Helper()
	config, err := os.OpenFile(b.configPath(), os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = config.WriteString("[user]\n\tname = Ada Tester\n\temail = ada@example.com\n" +
			"[commit]\n\tgpgsign = false\n[maintenance]\n\tauto = false\n")
		err = errors.Join(err, config.Close())
	}
	if err != nil {
		b.TB.Fatalf("configure the repository: %v", err)
	}
	return b
}

// configPath returns the path of the repository's configuration, if possible without a git process.
func (b builder) configPath() string {
	b.TB.Helper()
	for _, name := range []string{".git/config", "config"} {
		if info, err := os.Stat(b.Path(name)); err == nil && info.Mode().IsRegular() {
			return b.Path(name)
		}
	}
	return filepath.Join(b.CommonDir(), "config")
}

// first makes the first commit.
func (b builder) first() builder {
	b.Write("README.md", "# A project\n")
	b.Git("add", "README.md")
	b.Git("commit", "-q", "-m", "first")
	return b
}

// cloneOf makes a repository with some history and clones it.
func (b builder) cloneOf(options ...string) builder {
	origin := b.initAt("origin").identify().first()
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
	b.Git(append(args, source, "repo")...)
	return b.at("repo").identify()
}

func noIdentity(b builder) builder {
	repo := b.initAt("repo")
	repo.Write("README.md", "# A project\n")
	repo.Git("add", "-A")
	repo.Git("-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "-m", "first")
	return repo
}

func linkedWorktree(b builder) builder {
	b.initAt("main").identify().first().Git("worktree", "add", "-q", "-b", "topic", "../linked tree")
	return b.at("linked tree")
}

func superproject(b builder) builder {
	b.initAt("library").identify().first()
	super := b.initAt("super").identify().first()
	super.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", filepath.Join(b.Dir, "library"), "lib")
	super.Commit("add the library")
	super.at("lib").identify()
	return super
}

func separate(b builder) builder {
	return b.initAt("repo", "--separate-git-dir="+filepath.Join(b.Dir, "elsewhere.git")).identify().first()
}

func bareLayout(b builder) builder {
	b.initAt("source").identify().first()
	project := filepath.Join(b.Dir, "project")
	b.Git("clone", "-q", "--bare", filepath.Join(b.Dir, "source"), filepath.Join(project, ".bare"))
	layout := b.at("project")
	layout.Write(".git", "gitdir: ./.bare\n")
	layout.identify()
	layout.Git("worktree", "add", "-q", "main")
	return layout.at("main")
}

func sparse(b builder) builder {
	origin := b.initAt("origin").identify().first()
	origin.Write("in/kept.txt", "kept\n")
	origin.Write("out/left.txt", "left out\n")
	origin.Commit("two folders")
	b.Git("clone", "-q", "--no-checkout", origin.Dir, "repo")
	repo := b.at("repo").identify()
	repo.Git("sparse-checkout", "init", "--cone", "--sparse-index")
	repo.Git("sparse-checkout", "set", "in")
	repo.Git("checkout", "-q", "main")
	return repo
}

func worktreeConfig(b builder) builder {
	repo := b.initAt("repo").identify().first()
	repo.Git("config", "extensions.worktreeConfig", "true")
	repo.Git("config", "--worktree", "core.filemode", "true")
	repo.Git("worktree", "add", "-q", "-b", "topic", "../other")
	return b.at("other")
}

func reftable(b builder) builder {
	if b.TryGit("init", "-q", "-b", "main", "--ref-format=reftable", "repo").Code != 0 {
		return builder{}
	}
	return b.at("repo").identify().first()
}

func symlinked(b builder) builder {
	b.initAt("real").identify().first()
	if err := os.Symlink("real", b.Path("link")); err != nil {
		return builder{}
	}
	return b.at("link")
}

func subdirectory(b builder) builder {
	repo := b.initAt("repo").identify().first()
	repo.Write("pkg/sub/doc.txt", "doc\n")
	repo.Commit("a folder")
	return repo.at("pkg/sub")
}

func detached(b builder) builder {
	repo := b.initAt("repo").identify().first()
	repo.Git("checkout", "-q", "--detach")
	return repo
}

// huge has 100,000 files in 1,000 folders.
func huge(b builder) builder {
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
