package strategy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/redact"
)

// ErrForgotten means that a session was forgotten: nothing of it is recorded any
// more, also if it goes on.
var ErrForgotten = errors.New("the session was forgotten")

// ErrRemoteHasForgotten means that a remote still has what was forgotten here.
var ErrRemoteHasForgotten = errors.New("it still has what was forgotten here: run entire forget --push")

// IsForgotten reports whether the session was forgotten in this repository, by
// this clone or by one whose checkpoints were merged.
func (r *Recorder) IsForgotten(session string) (bool, error) {
	t, err := checkpoint.LoadTombstones(r.Repo.CommonDir)
	return t.HasSession(session), err
}

// checkTombstones returns an error if it isn't known what was forgotten here: what
// would be recorded then could bring it back. What is due stays due.
func (r *Recorder) checkTombstones() error {
	_, err := checkpoint.LoadTombstones(r.Repo.CommonDir)
	return err
}

// learnForgotten adds what the metadata branch lists as forgotten to this
// repository's own list.
func (r *Recorder) learnForgotten(ctx context.Context) error {
	tree, err := checkpoint.Tree(ctx, r.Repo)
	if errors.Is(err, checkpoint.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	listed, err := checkpoint.ForgottenIn(ctx, r.Repo, tree)
	if err != nil || listed.Empty() {
		return err
	}
	t, err := checkpoint.LoadTombstones(r.Repo.CommonDir)
	if err != nil || t.Has(listed) {
		return err
	}
	t.Forgotten = t.With(listed)
	return t.Save(r.Repo.CommonDir)
}

// withoutForgottenTexts is a commit of somebody's metadata branch, rewritten
// without the texts that were forgotten here.
func (r *Recorder) withoutForgottenTexts(ctx context.Context, theirs git.OID) (git.OID, error) {
	t, err := checkpoint.LoadTombstones(r.Repo.CommonDir)
	if err != nil {
		return "", err
	}
	f := t.Forgetter()
	if f == nil {
		return theirs, nil
	}
	return (&checkpoint.Rewriting{Repo: r.Repo, Mask: f.Mask}).Metadata(ctx, theirs)
}

// remoteHasForgotten reports whether the remote's metadata branch is at a commit
// that was rewritten here because of what it has.
func (r *Recorder) remoteHasForgotten(ctx context.Context, remote string) (bool, error) {
	t, err := checkpoint.LoadTombstones(r.Repo.CommonDir)
	if err != nil || len(t.Replaced) == 0 {
		return false, err
	}
	at, err := r.Repo.RemoteRef(ctx, remote, checkpoint.MetadataBranch)
	return slices.Contains(t.Replaced, at), err
}

// PushForgotten makes the remote's metadata branch this repository's, in the place
// of one that has what was forgotten. What others have added to the remote's is
// merged first. It fails if the remote's branch moves meanwhile.
func (r *Recorder) PushForgotten(ctx context.Context, remote string) error {
	place, err := r.Repo.PushPlace(ctx, remote)
	if err == nil {
		err = r.checkRemote(place)
	}
	if err != nil {
		return err
	}
	err = r.exchange(ctx, func() error {
		t, err := checkpoint.LoadTombstones(r.Repo.CommonDir)
		if err != nil {
			return err
		}
		at, err := r.Repo.RemoteRef(ctx, remote, checkpoint.MetadataBranch)
		if err != nil {
			return err
		}
		if at != "" && !slices.Contains(t.Replaced, at) {
			if err := r.takeIn(ctx, remote); err != nil {
				return err
			}
		}
		tip, err := r.tipOf(ctx, checkpoint.MetadataBranch)
		if err != nil || tip == "" || tip == at {
			return err
		}
		return r.Repo.PushOver(ctx, remote, git.RefUpdate{Name: checkpoint.MetadataBranch, New: tip, Old: at})
	})
	if err != nil {
		return fmt.Errorf("send to %s: %w", git.HideURL(remote), err)
	}
	return nil
}

// Forgetful is a redactor that masks the texts that were forgotten, too.
type Forgetful struct {
	Redactor

	Texts *redact.Forgetter
}

// Line masks and redacts a line of a transcript.
func (f Forgetful) Line(line []byte) []byte { return f.Redactor.Line(f.Texts.Mask(line)) }

// LineContext is Line, and returns an error soon after ctx ends.
func (f Forgetful) LineContext(ctx context.Context, line []byte) ([]byte, error) {
	masked, err := f.Texts.MaskContext(ctx, line)
	if err != nil {
		return nil, err
	}
	return f.Redactor.LineContext(ctx, masked)
}

// Text masks and redacts a text.
func (f Forgetful) Text(s string) string { return f.Redactor.Text(string(f.Texts.Mask([]byte(s)))) }

// TextContext is Text, and returns an error soon after ctx ends.
func (f Forgetful) TextContext(ctx context.Context, s string) (string, error) {
	masked, err := f.Texts.MaskContext(ctx, []byte(s))
	if err != nil {
		return "", err
	}
	return f.Redactor.TextContext(ctx, string(masked))
}

// Path masks and redacts a path.
func (f Forgetful) Path(path string) string {
	return f.Redactor.Path(string(f.Texts.Mask([]byte(path))))
}
