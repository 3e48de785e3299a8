// Package points lists the points that a worktree can be rewound to and resolves a user's name for
// one. It imports indexing, snapshots and workspace, and changes nothing but the index.
package points
