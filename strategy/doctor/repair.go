package doctor

import (
	"context"
	"errors"
	"fmt"
)

// Outcome is what became of a repair.
type Outcome struct {
	Finding

	// Backup is what to undo it with.
	Backup string
	// Err says why it failed.
	Err error
}

// Fix repairs what it can of the findings. Those of one code share a backup,
// without which none of them is touched. Whether they are mended is for another
// Examine to say.
func (d *Doctor) Fix(ctx context.Context, findings []Finding) ([]Outcome, error) {
	var done []Outcome
	for _, group := range Groups(findings) {
		made, err := d.fix(ctx, group)
		done = append(done, made...)
		if err != nil {
			return done, err
		}
	}
	return done, d.Recorder.Locked(ctx, func() error { return d.prune(ctx) })
}

// Groups are the findings that can be repaired, by code, in their order.
func Groups(findings []Finding) [][]Finding {
	at := map[string]int{}
	var groups [][]Finding
	for _, f := range findings {
		if f.Repair == nil {
			continue
		}
		i, known := at[f.Code]
		if !known {
			i = len(groups)
			at[f.Code], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], f)
	}
	return groups
}

// fix repairs findings of one code. The services that do it take the lock by
// themselves, so the backup is made under one of its own: what a hook does in
// between is either what the repair does, or is kept by it.
func (d *Doctor) fix(ctx context.Context, group []Finding) ([]Outcome, error) {
	code := group[0].Code
	subjects := make([]string, len(group))
	repairs := make([]*Repair, len(group))
	for i, f := range group {
		subjects[i], repairs[i] = f.Subject, f.Repair
	}
	var b *Backup
	err := d.Recorder.Locked(ctx, func() (err error) {
		b, err = d.back(ctx, code, subjects, repairs)
		return err
	})
	if err != nil {
		return nil, err
	}
	done := make([]Outcome, len(group))
	for i, f := range group {
		done[i] = Outcome{Finding: f, Backup: b.Name}
		if err := f.Repair.Do(ctx); err != nil {
			done[i].Err = fmt.Errorf("repair %s: %w", f.Subject, err)
		}
	}
	// Also what was repaired before an interruption has to be undoable.
	err = d.Recorder.Locked(context.WithoutCancel(ctx), func() error { return d.seal(context.WithoutCancel(ctx), b) })
	return done, errors.Join(err, ctx.Err())
}
