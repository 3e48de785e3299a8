// Package resume finds the checkpoint of a branch and restores its sessions' transcripts, so that
// an agent can continue them. It imports sharing and workspace.
package resume
