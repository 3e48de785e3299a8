package checkpoint

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/internal/git"
)

// Errors of this package.
var (
	// ErrTooLarge means that a blob would be larger than hosts accept.
	ErrTooLarge = errors.New("too large to be stored")
	// ErrTranscriptLost means that the stored transcript to which a state refers no longer exists.
	ErrTranscriptLost = errors.New("the stored transcript is lost")
)

// MaxBlob is the maximum size of a blob to be written or read: common hosts refuse a push with a
// file of 100 MB, and with it all later pushes of the branch.
const MaxBlob = 95 << 20

// WriteBlob writes a blob of a record, ErrTooLarge if it is larger than MaxBlob.
func WriteBlob(repo *git.Repo, data []byte) (git.OID, error) {
	if len(data) > MaxBlob {
		return "", fmt.Errorf("blob of %d bytes: %w", len(data), ErrTooLarge)
	}
	return repo.WriteBlob(data)
}

// ReadBlob reads a blob of at most MaxBlob bytes.
func ReadBlob(ctx context.Context, repo *git.Repo, oid git.OID) ([]byte, error) {
	return ReadBlobWithin(ctx, repo, oid, MaxBlob)
}

// ReadBlobWithin reads a blob of at most limit bytes, git.ErrTooMuch if it is larger.
func ReadBlobWithin(ctx context.Context, repo *git.Repo, oid git.OID, limit int64) ([]byte, error) {
	object, err := repo.ReadWithin(ctx, string(oid), max(limit, 0))
	if err != nil {
		return nil, err
	}
	if object.Type != "blob" {
		return nil, fmt.Errorf("%s is a %s, not a blob", oid, object.Type)
	}
	return object.Data, nil
}
