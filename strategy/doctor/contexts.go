package doctor

import (
	"context"

	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
)

// damagedContexts finds saved contexts with parts that can't be read. Refs that name no commit are
// found by refs.
func (sc storeChecks) damagedContexts(ctx context.Context) ([]Finding, error) {
	damaged, err := contextstore.Store{Repo: sc.repo}.Verify(ctx)
	var list []Finding
	for _, d := range damaged {
		if sc.isBroken(ctx, contextstore.Refs+d.ID) {
			continue
		}
		list = append(list, Finding{
			Code: DamagedContext, Severity: Error, Subject: d.ID,
			What: "the context checkpoint is damaged: " + lines(d.Err)[0],
			Why:  "it can't be resumed completely, and git gc fails while objects are missing",
			Hint: "`entire recall discard --force " + d.ID + "` removes it",
		})
	}
	return list, err
}
