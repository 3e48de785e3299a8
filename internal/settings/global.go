package settings

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Keys of the block "global", which counts only in the user's own file. Their names and meanings are
// those of the existing tool.
const (
	KeyGlobal            = "global.enabled"
	KeyExcludePaths      = "global.exclude_paths"
	KeyExcludePathsExact = "global.exclude_paths_exact"
	KeyExcludeOrigins    = "global.exclude_origins"
	KeyTrustAll          = "global.trust_all"
	KeyTrustedOrigins    = "global.trusted_origins"
	KeyTrustedPaths      = "global.trusted_paths"

	globalGroup = "global."
)

// Global holds the settings for all repositories of the machine: whether every one is recorded,
// which are excluded, and to which remotes checkpoints may be sent.
type Global struct {
	Enabled bool
	// ExcludePaths are patterns for roots of worktrees and the folders around them,
	// ExcludePathsExact single roots, ExcludeOrigins patterns for the keys of the remote origin (see
	// OriginKey).
	ExcludePaths, ExcludePathsExact, ExcludeOrigins []string
	// TrustAll allows sending to every configured remote, TrustedOrigins to the remotes with these
	// keys, TrustedPaths from the worktrees with these roots.
	TrustAll                     bool
	TrustedOrigins, TrustedPaths []string
}

func globalFields() []field {
	userOnly := func(f field) field {
		f.userOnly = true
		return f
	}
	list := func(key, allowed string, check func(string) error, at func(*Settings) *[]string) field {
		f := patterns(key, at)
		set := f.set
		f.allowed = allowed
		f.set = func(s *Settings, r raw) bool {
			var trial Settings
			if !set(&trial, r) || slices.ContainsFunc(*at(&trial), func(p string) bool { return check(p) != nil }) {
				return false
			}
			*at(s) = *at(&trial)
			return true
		}
		return userOnly(f)
	}
	return []field{
		userOnly(boolean(KeyGlobal, func(s *Settings) *bool { return &s.Global.Enabled })),
		list(KeyExcludePaths, `a list of absolute paths or patterns, like "~/work/**"`, checkPathPattern,
			func(s *Settings) *[]string { return &s.Global.ExcludePaths }),
		list(KeyExcludePathsExact, `a list of absolute paths, like "~"`, checkPath,
			func(s *Settings) *[]string { return &s.Global.ExcludePathsExact }),
		list(KeyExcludeOrigins, `a list of remotes or patterns, like "github.com/acme/*"`, checkOriginPattern,
			func(s *Settings) *[]string { return &s.Global.ExcludeOrigins }),
		userOnly(boolean(KeyTrustAll, func(s *Settings) *bool { return &s.Global.TrustAll })),
		list(KeyTrustedOrigins, `a list of remotes, like "github.com/acme/widgets"`, func(string) error { return nil },
			func(s *Settings) *[]string { return &s.Global.TrustedOrigins }),
		list(KeyTrustedPaths, "a list of absolute paths", checkPath,
			func(s *Settings) *[]string { return &s.Global.TrustedPaths }),
	}
}

// Level is what enables recording in a worktree.
type Level string

// The levels.
const (
	NoLevel    Level = "none"
	Repository Level = "repository" // settings files in .entire
	Marker     Level = "marker"     // the marker in the git directory: `entire enable` was run here
	Machine    Level = "machine"    // the user's settings, for every repository of the machine
)

// Reason is why nothing is recorded in a worktree.
type Reason string

// The reasons.
const (
	NotEnabled Reason = "not-enabled"
	Vetoed     Reason = "disabled"          // a file or variable disables recording
	Excluded   Reason = "excluded"          // a pattern of the user's settings excludes the repository
	Unusable   Reason = "unusable-settings" // the user's settings for the machine can't be used
)

// Activation describes whether sessions are recorded in a worktree, by which level, and if not, why. It is decided by Load only. That starts no process, unless the user's settings exclude the
// repository and a personal file of it enables recording: git then determines whose file that is.
type Activation struct {
	On     bool
	Level  Level  // what enables recording, or would do so but for Reason
	Reason Reason // empty if On
	// By is the file or variable of Vetoed, the pattern of Excluded, or the key of Unusable.
	By string
}

// Text describes why nothing is recorded, as the rest of a sentence. It is empty if recording is on.
func (a Activation) Text() string {
	switch a.Reason {
	case NotEnabled:
		return "not enabled"
	case Vetoed:
		return "disabled by " + a.By
	case Excluded:
		return "excluded by " + a.By
	case Unusable:
		return "the user's settings can't be used: " + a.By
	}
	return ""
}

// activation decides whether recording is on. The layers are read.
//
// A value false of "enabled", in any layer, is a veto. Exclusions count only with global.enabled; then
// they stand above settings that came with a clone and above the marker, but not above the user's
// own "enabled": true for this clone. A repository without a .git of its own is not one of the machine's:
// it may be a part of another one's tree, with a configuration that its author wrote.
func (l *loader) activation() Activation {
	a := Activation{Level: l.ownLevel()}
	unusable := l.unusable()
	isGlobal := l.Global.Enabled && l.from.CommonDir != "" && !l.from.Implicit && unusable == ""
	if isGlobal && (a.Level == NoLevel || a.Level == Repository && l.hasOnlySilentFiles()) {
		a.Level = Machine
	}
	switch {
	case a.Level == NoLevel && unusable != "":
		a.Reason, a.By = Unusable, unusable
	case a.Level == NoLevel:
		a.Reason = NotEnabled
	case !l.Enabled:
		a.Reason, a.By = Vetoed, l.sources[KeyEnabled].Name
	case isGlobal:
		reason, by := l.exclusion()
		if reason != "" && !l.isEnabledByUser() { // the latter may start a process
			a.Reason, a.By = reason, by
		}
	}
	a.On = a.Reason == ""
	return a
}

// ownLevel returns what enables the repository by itself.
func (l *loader) ownLevel() Level {
	if slices.ContainsFunc(l.Files, func(f File) bool { return f.Layer == Project || f.Layer == Local }) {
		return Repository
	}
	if l.Marker {
		return Marker
	}
	return NoLevel
}

// hasOnlySilentFiles reports whether the repository has only personal settings files without a value
// of "enabled", and no marker. They were written for another setting, and don't count as enabling it
// apart from the machine.
func (l *loader) hasOnlySilentFiles() bool {
	return !l.Marker && !slices.ContainsFunc(l.Files, func(f File) bool {
		return f.Layer == Project || f.Layer == Local && f.Explicit
	})
}

// isEnabledByUser reports whether the user has enabled this clone in a personal file, which has
// precedence over the exclusions.
func (l *loader) isEnabledByUser() bool {
	from := l.sources[KeyEnabled]
	return from.Layer == Clone || from.Layer == Local && !l.isProject(from)
}

// unusable returns a key of the block "global" that turns it off: one that this version doesn't know,
// as it may limit what the others allow, or a value of global.enabled that isn't a bool.
func (l *loader) unusable() string {
	if _, bad := l.refused[KeyGlobal]; bad {
		return KeyGlobal
	}
	i := slices.IndexFunc(l.Unknown, func(u UnknownKey) bool {
		return IsGlobal(u.Key) && u.File == UserFile(l.from)
	})
	if i < 0 {
		return ""
	}
	return l.Unknown[i].Key
}

// exclusion returns whether the user's settings exclude the repository, and the pattern that does. A
// list that can't be used excludes every repository, as does an origin that can't be compared.
func (l *loader) exclusion() (Reason, string) {
	for _, key := range []string{KeyExcludePaths, KeyExcludePathsExact, KeyExcludeOrigins} {
		if _, bad := l.refused[key]; bad {
			return Unusable, key
		}
	}
	roots := []string{l.from.Worktree}
	if l.from.MainWorktree != "" && l.from.MainWorktree != l.from.Worktree {
		roots = append(roots, l.from.MainWorktree)
	}
	g := &l.Global
	for _, root := range roots {
		if p, found := matchPath(g.ExcludePaths, root, l.from.Home); found {
			return Excluded, p
		}
		if p, found := matchExact(g.ExcludePathsExact, root, l.from.Home); found {
			return Excluded, p
		}
	}
	if len(g.ExcludeOrigins) == 0 || l.from.Origins == nil {
		return "", ""
	}
	urls, err := l.from.Origins()
	if err != nil {
		return Unusable, fmt.Sprintf("the remote origin can't be read: %v", err)
	}
	for _, url := range urls {
		key := OriginKey(url, l.from.Worktree)
		if key == "" {
			return Excluded, KeyExcludeOrigins + " (its origin can't be compared)"
		}
		if p, found := matchOrigin(g.ExcludeOrigins, key); found {
			return Excluded, p
		}
	}
	return "", ""
}

// CloneFile returns the path of the user's own settings of one clone, which are in its git directory
// and in force in all of its worktrees.
func CloneFile(commonDir string) string {
	return filepath.Join(commonDir, "entire", "settings.json")
}

// EditClone is Edit for CloneFile.
func EditClone(commonDir string, changes ...Change) (bool, error) {
	return edit(CloneFile(commonDir), modes{file: 0o600, dir: 0o750}, changes)
}

// Trusts reports whether checkpoints may be sent to a remote with these URLs from a repository whose
// worktrees have these roots: every URL is in trusted_origins or, for a remote of git's configuration,
// trust_all is set or a root is in trusted_paths.
func (g *Global) Trusts(urls, roots []string, home string, configured bool) bool {
	if configured && (g.TrustAll || IsListed(g.TrustedPaths, roots, home)) {
		return true
	}
	return len(urls) > 0 && !slices.ContainsFunc(urls, func(url string) bool {
		key := OriginKey(url, roots[0])
		return key == "" || !slices.ContainsFunc(g.TrustedOrigins, func(entry string) bool {
			return entry == key || OriginKey(entry, "") == key
		})
	})
}

// IsGlobal reports whether a key belongs to the block "global".
func IsGlobal(key string) bool { return key == "global" || strings.HasPrefix(key, globalGroup) }

// TrustsAny reports whether the user has allowed sending to any remote.
func (g *Global) TrustsAny() bool {
	return g.TrustAll || len(g.TrustedOrigins)+len(g.TrustedPaths) > 0
}
