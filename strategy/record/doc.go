// Package record executes the events of sessions and of git. It begins and ends turns, decides
// about a commit before git makes it, writes the sessions' part of the commit into its checkpoint
// afterwards, carries the remaining files forward, completes checkpoints with the rest of a turn,
// and repairs what interrupted hooks left. It also commits turns, and requests summaries.
package record
