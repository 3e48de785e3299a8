package doctor

import (
	"cmp"
	"context"
	"errors"
)

// Outcome is the result of a repair.
type Outcome struct {
	Finding

	// Backup is the name of the backup with which the repair can be undone.
	Backup string
	// Err is the error of a failed repair.
	Err error
}

// Fix repairs the findings that can be repaired. Findings of one kind share a backup. If it can't
// be made, none of them is repaired. Findings that could not be repaired are found again by
// Examine.
func (d *Doctor) Fix(ctx context.Context, findings []Finding) ([]Outcome, error) {
	var done []Outcome
	for _, group := range Groups(findings) {
		if d.Progress != nil {
			d.Progress(int64(len(done)), int64(len(findings)))
		}
		subjects := make([]string, len(group))
		repairs := make([]*Repair, len(group))
		for i, f := range group {
			subjects[i], repairs[i] = f.Subject, f.Repair
		}
		// The functions that repair take the lock themselves, so the backup is made under its own
		// lock: a change that a hook makes in between is either the same as the repair's or
		// preserved by it.
		var b *Backup
		err := d.Workspace.WithLock(ctx, func() (err error) {
			b, err = d.back(ctx, group[0].kind(), subjects, repairs)
			return err
		})
		if err != nil {
			return done, err
		}
		made := map[*Repair]error{}
		for _, f := range group {
			if _, known := made[f.Repair]; !known {
				made[f.Repair] = f.Repair.Do(ctx)
			}
			done = append(done, Outcome{Finding: f, Backup: b.Name, Err: made[f.Repair]})
		}
		// Repairs before an interruption must be undoable, too.
		err = d.Workspace.WithLock(context.WithoutCancel(ctx), func() error { return d.seal(context.WithoutCancel(ctx), b) })
		if err := errors.Join(err, ctx.Err()); err != nil {
			return done, err
		}
	}
	return done, d.Workspace.WithLock(ctx, func() error { return d.prune(ctx) })
}

// kind returns the kind by which findings are grouped for repair.
func (f Finding) kind() string { return cmp.Or(f.Repair.Kind, f.Code) }

// Groups returns the findings that can be repaired, grouped by kind, in their order.
func Groups(findings []Finding) [][]Finding {
	at := map[string]int{}
	var groups [][]Finding
	for _, f := range findings {
		if f.Repair == nil {
			continue
		}
		i, known := at[f.kind()]
		if !known {
			i = len(groups)
			at[f.kind()], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], f)
	}
	return groups
}
