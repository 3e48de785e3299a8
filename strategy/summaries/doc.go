// Package summaries asks a model for the summary of a checkpoint's session and stores it. It
// imports explain and workspace.
package summaries
