package catalog

import (
	"context"
	"database/sql"
	"math"
	"time"
)

const selectCheckpoints = `SELECT version, ifnull(message, ''), created_at, kind, ifnull(parent, 0), ifnull(lineage, ''), ifnull(root, ''),
    ifnull(agent, ''), ifnull(session_id, ''), ifnull(turn_id, ''), ifnull(action, ''), ifnull(prompt, ''), ifnull(commit_oid, ''),
    late, ifnull(files, 0), ifnull(bytes, 0), ifnull(band_count, 0), ifnull(stamp, 0), ifnull(branch, ''), ifnull(metadata, ''),
    ifnull(tree, '')
FROM checkpoints WHERE store_id = ? AND version BETWEEN ? AND ? ORDER BY version DESC LIMIT ?`

// Checkpoints returns at most limit snapshots of the store, newest first. A limit of 0 means all.
func (c *Catalog) Checkpoints(ctx context.Context, storeID string, limit int) ([]Checkpoint, error) {
	if limit <= 0 {
		limit = -1
	}
	return c.checkpoints(ctx, storeID, 0, math.MaxInt32, limit)
}

// CheckpointsBetween returns the snapshots with versions from low to high, newest first.
func (c *Catalog) CheckpointsBetween(ctx context.Context, storeID string, low, high int) ([]Checkpoint, error) {
	return c.checkpoints(ctx, storeID, low, high, -1)
}

func (c *Catalog) checkpoints(ctx context.Context, storeID string, low, high, limit int) ([]Checkpoint, error) {
	var list []Checkpoint
	err := c.retry(ctx, "list checkpoints", func(ctx context.Context) error {
		list = nil
		err := each(ctx, c.db, selectCheckpoints, []any{storeID, low, high, limit}, func(rows *sql.Rows) error {
			var p Checkpoint
			var created int64
			err := rows.Scan(&p.Version, &p.Message, &created, &p.Kind, &p.Parent, &p.Lineage, &p.Root, &p.Agent, &p.Session, &p.Turn,
				&p.Action, &p.Prompt, &p.Commit, &p.Late, &p.Files, &p.Bytes, &p.Bands, &p.Stamp, &p.Branch, &p.Metadata, &p.Tree)
			if err != nil {
				return err
			}
			p.Created = time.Unix(created, 0).UTC()
			list = append(list, p)
			return nil
		})
		if err != nil || len(list) == 0 {
			return err
		}
		const query = `SELECT version, checkpoint_id, commit_oid, created_at, late FROM pairs
WHERE store_id = ? AND version BETWEEN ? AND ? ORDER BY version DESC, created_at, checkpoint_id`
		i := 0 // both lists are in descending order
		return each(ctx, c.db, query, []any{storeID, list[len(list)-1].Version, list[0].Version}, func(rows *sql.Rows) error {
			var p Pair
			var version int
			var created int64
			if err := rows.Scan(&version, &p.Checkpoint, &p.Commit, &created, &p.Late); err != nil {
				return err
			}
			p.Created = time.Unix(created, 0).UTC()
			for i < len(list) && list[i].Version > version {
				i++
			}
			if i < len(list) && list[i].Version == version {
				list[i].Pairs = append(list[i].Pairs, p)
			}
			return nil
		})
	})
	return list, err
}
