package doctor

import (
	"cmp"
	"context"
	"errors"
)

// Outcome is what became of a repair.
type Outcome struct {
	Finding

	// Backup is what to undo it with.
	Backup string
	// Err is why it failed.
	Err error
}

// Fix repairs what it can of the findings. Those of one kind share a backup,
// without which none of them is touched. Another Examine finds those that were not
// mended.
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
		// The services that repair take the lock by themselves, so the backup is made under one of its
		// own: what a hook does in between is either what the repair does, or is kept by it.
		var b *Backup
		err := d.Recorder.WithLock(ctx, func() (err error) {
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
		// Also what was repaired before an interruption has to be undoable.
		err = d.Recorder.WithLock(context.WithoutCancel(ctx), func() error { return d.seal(context.WithoutCancel(ctx), b) })
		if err := errors.Join(err, ctx.Err()); err != nil {
			return done, err
		}
	}
	return done, d.Recorder.WithLock(ctx, func() error { return d.prune(ctx) })
}

// kind is what a finding is repaired together with.
func (f Finding) kind() string { return cmp.Or(f.Repair.Kind, f.Code) }

// Groups are the findings that can be repaired, by kind, in their order.
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
