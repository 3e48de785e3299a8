// Package sharing pushes checkpoints to the remote that stores them, fetches those of other
// clones, and removes forgotten data there. It imports record and the packages below.
package sharing
