package index

import (
	"context"
	"errors"
	"fmt"
)

// SetVersion sets the version of the index's tables.
func SetVersion(ctx context.Context, f Files, version int) error {
	w, err := OpenWriter(ctx, f)
	if err != nil {
		return err
	}
	_, err = w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version))
	return errors.Join(err, w.Close(ctx, err))
}
