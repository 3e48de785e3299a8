package history

import (
	"context"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
)

// ImportPast imports all past sessions of the repository, as `entire import` without options.
func ImportPast(ctx context.Context, a *app.App) error {
	return runImport(ctx, a, importOptions{})
}
