package sharing

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// RemoteRefusedError is the error for a push_remote that must not be used to send or fetch
// checkpoints.
type RemoteRefusedError struct{ Remote, Reason string }

func (e *RemoteRefusedError) Error() string {
	return "refused push_remote " + git.HideURL(e.Remote) + ": " + e.Reason
}

// Hint returns advice for the user.
func (e *RemoteRefusedError) Hint() string {
	return "set strategy_options.push_remote to a remote of `git remote`, or a URL like https://host/path or git@host:path"
}

// CheckRemote refuses push_remote if it is neither the name of a configured
// remote nor a URL with an allowed transport. A path counts only if it is the
// user's own setting. Nothing inside the worktree counts, as a repository there
// has hooks written by the author of the worktree's files.
func CheckRemote(w *workspace.Workspace, p git.PushDestination) error {
	refuse := func(reason string) error { return &RemoteRefusedError{Remote: w.Options.PushRemote, Reason: reason} }
	if !p.Configured && !settings.IsRemoteURL(p.URL) {
		switch _, local := localPath(p.URL); {
		case !local:
			return refuse("only https and ssh are allowed")
		case !w.Options.OwnRemote:
			return refuse("it is not a configured remote, and a path is only accepted from your own settings")
		case !filepath.IsAbs(p.URL) && !strings.HasPrefix(p.URL, ".") && !strings.HasPrefix(p.URL, "file:"):
			if _, err := os.Stat(fromRoot(w, p.URL)); errors.Is(err, fs.ErrNotExist) {
				return refuse("no such remote")
			}
		}
	}
	for one := range strings.Lines(p.URL) {
		path, local := localPath(strings.TrimSuffix(one, "\n"))
		if local && (liesInWorktree(w, fromRoot(w, path)) || liesInWorktree(w, fromRoot(w, path+".git"))) {
			return refuse("it is inside the worktree")
		}
	}
	return nil
}

// localPath returns the path of a URL that git treats as a local path; false for any other.
func localPath(text string) (path string, local bool) {
	const scheme = "file://"
	if len(text) >= len(scheme) && strings.EqualFold(text[:len(scheme)], scheme) {
		rest := text[len(scheme):]
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			rest = rest[i:]
		}
		if decoded, err := url.PathUnescape(rest); err == nil {
			rest = decoded
		}
		return rest, true
	}
	colon, slash := strings.IndexByte(text, ':'), strings.IndexByte(text, '/')
	return text, colon < 0 || (slash >= 0 && slash < colon)
}

// fromRoot returns a path as git resolves it, relative to the worktree's root. It isn't
// cleaned: ".." after a link leads elsewhere than its text.
func fromRoot(w *workspace.Workspace, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return w.Repo.Root + string(filepath.Separator) + path
}

// liesInWorktree reports whether a path, links followed, lies in a worktree of the
// repository.
func liesInWorktree(w *workspace.Workspace, path string) bool {
	var roots []os.FileInfo
	for _, root := range []string{w.Repo.Root, w.Repo.MainRoot()} {
		if info, err := os.Stat(root); err == nil && root != "" {
			roots = append(roots, info)
		}
	}
	for dir := disk.Physical(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		for _, root := range roots {
			if err == nil && os.SameFile(info, root) {
				return true
			}
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}
