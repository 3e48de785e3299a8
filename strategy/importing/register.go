package importing

import "github.com/seed-3aff656d/entire/strategy/workspace"

// register lists the imported sessions, so that a later import leaves those that have not changed.
type register struct{}

func readRegister(w *workspace.Workspace) (register, error) { return register{}, nil }

func (im *importer) remember(begin, end int, done []*stored) error { return nil }
