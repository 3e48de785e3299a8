package importing

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Offer is what an import would read.
type Offer struct {
	// Sessions is the number of sessions that are neither recorded nor imported, Size that of the bytes of
	// their files, Since the beginning of the first.
	Sessions int
	Size     int64
	Since    time.Time
}

// FindOffer counts the sessions that Run would read and that are new. It reads only the beginnings and the
// ends of files.
func FindOffer(ctx context.Context, w *workspace.Workspace, progress func(done, total int64)) (o Offer, err error) {
	im := importer{w: w, Options: Options{Progress: func(_ string, done, total int64) { progress(done, total) }}}
	if err := im.find(ctx); err != nil || len(im.files) == 0 {
		return Offer{}, err
	}
	recorded, err := recordedSessions(ctx, w)
	if err != nil {
		return Offer{}, err
	}
	forgotten, err := forgottenSessions(ctx, w)
	if err != nil {
		return Offer{}, err
	}
	known, err := readRegister(w)
	if err != nil {
		return Offer{}, err
	}
	for _, f := range im.files {
		if recorded[f.ID] || forgotten(f.ID) || known.Files[f.ID] != "" || session.CheckID(f.ID) != nil {
			continue
		}
		o.Sessions++
		o.Size += f.Size
		if !f.Start.IsZero() && (o.Since.IsZero() || f.Start.Before(o.Since)) {
			o.Since = f.Start
		}
	}
	return o, nil
}

// answeredPath returns the path of a file that exists if the user was asked whether to import.
func answeredPath(w *workspace.Workspace) string {
	return filepath.Join(w.RecordsDir(), "import-answered")
}

// Answered reports whether the user has answered an offer, or has imported sessions.
func Answered(w *workspace.Workspace) bool {
	return slices.ContainsFunc([]string{answeredPath(w), registerPath(w)}, func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	})
}

// Answer records that the user has answered an offer.
func Answer(w *workspace.Workspace) error {
	err := disk.MkdirAll(w.RecordsDir(), 0o700)
	if err == nil {
		err = disk.WriteDurable(answeredPath(w), nil, 0o600)
	}
	if err != nil {
		return fmt.Errorf("record the answer: %w", err)
	}
	return nil
}
