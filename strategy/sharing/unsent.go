package sharing

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Unsent describes why the checkpoints of this clone are sent nowhere, though others share theirs or the
// settings name a remote.
type Unsent struct {
	Remote string // name or URL, without credentials
	Why    UnsentReason
	// Checkpoints is the number of checkpoints here that the remote isn't known to have.
	Checkpoints int
}

// UnsentReason is a reason for which checkpoints are not sent.
type UnsentReason string

// The reasons.
const (
	Sent       UnsentReason = ""            // they are sent, or nothing suggests that they should be
	Proposed   UnsentReason = "proposed"    // the project's settings propose the remote, and the user hasn't accepted it
	NotTrusted UnsentReason = "not-trusted" // the user's settings for all repositories name it, and the user hasn't allowed it
	NotNamed   UnsentReason = "not-named"   // the remote has checkpoints of other persons, and no settings name one
)

// String returns a sentence about it, without a full stop.
func (u Unsent) String() string {
	what := "checkpoints of this clone are"
	if u.Checkpoints > 0 {
		what = plain.Plural(u.Checkpoints, "checkpoint") + " of this clone " + map[bool]string{true: "is", false: "are"}[u.Checkpoints == 1]
	}
	switch u.Why {
	case Proposed:
		return what + " not sent to " + u.Remote + ", which the project proposes"
	case NotNamed:
		return what + " not sent to " + u.Remote + ", which has those of others"
	case NotTrusted, Sent:
	}
	return what + " not sent to " + u.Remote
}

// Hint returns the command that allows sending.
func (u Unsent) Hint() string {
	if u.Why == NotNamed {
		return "`entire config push_remote " + u.Remote + "` sends them with each push"
	}
	return "`entire config trust` allows it, once for all clones"
}

// FindUnsent returns why the checkpoints of this clone are not sent to the destination that FindDestination
// found. It uses no network.
func FindUnsent(ctx context.Context, w *workspace.Workspace, to Destination) (Unsent, error) {
	switch {
	case to.Allowed:
		return Unsent{}, nil
	case to.IsProposed:
		return unsent(ctx, w, to.Remote, Proposed)
	case to.Remote != "":
		return unsent(ctx, w, to.Remote, NotTrusted)
	}
	if w.Options.UnwantsPush {
		return Unsent{}, nil
	}
	refs, err := git.ListRefs(ctx, w.Repo, checkpoint.RemoteBranches)
	if err != nil {
		return Unsent{}, err
	}
	remote := ""
	for _, ref := range refs {
		name := remoteOf(ref.Name)
		if remote != "" && name != "origin" {
			continue
		}
		others, err := hasOthers(ctx, w, ref)
		if err != nil {
			return Unsent{}, err
		}
		if others {
			remote = name
		}
	}
	if remote == "" {
		return Unsent{}, nil
	}
	return unsent(ctx, w, remote, NotNamed)
}

// hasOthers reports whether the latest commits of a history of checkpoints have other persons.
func hasOthers(ctx context.Context, w *workspace.Workspace, ref git.Ref) (bool, error) {
	self, err := w.Identity(ctx)
	if err == nil {
		err = git.MapPersons(ctx, w.Repo, []*git.Signature{&self})
	}
	if err != nil {
		return false, err
	}
	addresses, err := git.AuthorAddresses(ctx, w.Repo, ref.OID)
	return slices.ContainsFunc(addresses, func(a string) bool { return !strings.EqualFold(a, self.Email) }), err
}

func unsent(ctx context.Context, w *workspace.Workspace, remote string, why UnsentReason) (Unsent, error) {
	theirs, err := tipOf(ctx, w, trackingRef(remote))
	if err != nil {
		return Unsent{}, err
	}
	u := Unsent{Remote: git.HideURL(remote), Why: why}
	if u.Checkpoints, err = countMissing(ctx, w, theirs); err != nil {
		return Unsent{}, err
	}
	queue, err := checkpoint.Queued(w.Repo.CommonDir)
	if err != nil {
		return Unsent{}, err
	}
	for _, name := range queue {
		if _, err := w.Repo.ResolveRef(name); err == nil {
			u.Checkpoints++
		}
	}
	return u, nil
}

// unsentShown returns the file whose existence shows that the user was informed that checkpoints are not sent.
func unsentShown(w *workspace.Workspace) string { return filepath.Join(w.RecordsDir(), "unsent.shown") }

// reportUnsent prints that the checkpoints of this clone are not sent, once in a clone.
func reportUnsent(ctx context.Context, w *workspace.Workspace, to Destination) error {
	shown := unsentShown(w)
	if _, err := os.Lstat(shown); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	u, err := FindUnsent(ctx, w, to)
	if err != nil || u.Why == Sent || u.Checkpoints == 0 {
		return err
	}
	w.Env.Say("entire: " + u.String())
	w.Env.Say("hint: " + u.Hint() + "; this is shown once, and by `entire status`")
	return errors.Join(disk.MkdirAll(w.RecordsDir(), 0o700), disk.WriteCache(shown, nil, 0o600))
}
