package restore

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
)

// planSides are the two trees of a plan.
type planSides struct {
	Now    band.Loader
	NowRef band.Ref
	Target bands.Snapshot
	Lists  bool // identify the state that each step gives to its path
}

// NewPlan returns the plan of a restore of the target to the tree that present was read from. It
// writes nothing.
func NewPlan(ctx context.Context, s *bands.Store, present *capture.Present, target bands.Snapshot, in Scope) (Plan, error) {
	if in.Root == "" {
		in.Root = target.Root
	}
	compiled, err := in.Compile(nil)
	if err != nil {
		return Plan{}, err
	}
	plan, err := planForTarget(ctx, s, present, target, compiled)
	if err == nil {
		plan.AddUnheld(compiled, present.Unheld())
	}
	return plan, err
}

// planForTarget compares the tree that present was read from with the target.
func planForTarget(ctx context.Context, s *bands.Store, present *capture.Present, target bands.Snapshot, in *Selection) (Plan, error) {
	content, err := bands.OpenContent(s, target)
	if err != nil {
		return Plan{}, err
	}
	defer func() { _ = content.Bands.Close() }()
	return planBetween(ctx, s, planSides{Now: present.Loader, NowRef: present.Tree, Target: target}, content, in)
}

// planBetween returns the plan. It compares again without databases that are open.
func planBetween(ctx context.Context, s *bands.Store, at planSides, content *bands.ContentReader, in *Selection) (Plan, error) {
	if rel, err := filepath.Rel(in.Root, s.Dir()); err == nil && filepath.IsLocal(rel) {
		in.Hidden[filepath.ToSlash(rel)] = true
	}
	want, _ := at.Target.Tree.Ref()
	once := func(busy map[string]bool) (Plan, error) {
		plan := Plan{Target: at.Target, Dirs: map[string]dirChange{}, partly: map[string]band.Attr{}}
		p := &planner{
			comparison: comparison{Now: at.Now, Want: content.Records, Content: content, Scope: in},
			Plan:       &plan, busy: busy, lists: at.Lists, Seen: map[string]bool{},
		}
		err := p.run(ctx, at.NowRef, want)
		if err != nil && band.IsDamaged(err) {
			err = fmt.Errorf("%w: %w", bands.ErrDamaged, err)
		}
		return plan, err
	}
	plan, err := once(nil)
	if err != nil {
		return Plan{}, fmt.Errorf("compare with %s: %w", at.Target.Version, err)
	}
	if in.Force || len(plan.Units) == 0 {
		return plan, nil
	}
	var mains []string
	for _, u := range plan.Units {
		if u.there {
			mains = append(mains, u.Main)
		}
	}
	busy := inUse(in.Root, mains)
	if len(busy) == 0 {
		return plan, nil
	}
	if plan, err = once(busy); err != nil {
		return Plan{}, fmt.Errorf("compare with %s: %w", at.Target.Version, err)
	}
	return plan, nil
}
