package apply

import (
	"errors"
	"slices"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/swap"
)

// manyFiles is from how many files on a new directory is put apart.
const manyFiles = 2000

// many reports whether many files come into the directory and those below.
func (n *DirNode) many() bool {
	count := 0
	var visit func(n *DirNode) bool
	visit = func(n *DirNode) bool {
		if count += n.Count; count >= manyFiles || n.Files >= manyFiles {
			return true
		}
		return slices.ContainsFunc(n.Kids, visit)
	}
	return visit(n)
}

// mkdirApart makes the node's directory where, on ext4, nothing was deleted
// lately. There a file that is made in a directory first looks at every inode
// that was given back in the directory's neighbourhood in the last minutes, and
// uses none of them: after a node_modules was deleted, each file of its restore
// would take ten times as long as elsewhere. A directory made in one with the
// flag for top directories gets a neighbourhood by the hash of its name.
func (a *Applier) mkdirApart(n *DirNode, mode uint32) (err error) {
	parent, temp := n.Parent.fd, a.tempName()
	if dirfd.AppendOnly(parent) {
		return parent.Mkdir(n.Name, mode)
	}
	if err := parent.Mkdir(temp, ownerMay); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, parent.Rmdir(temp)) }()
	if !spreads(parent.Path() + "/" + temp) {
		return parent.Mkdir(n.Name, mode)
	}
	apart, err := parent.Open(temp)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, apart.Close()) }()
	name := a.tempName()
	if err := apart.Mkdir(name, mode); err != nil {
		return err
	}
	// A directory that appears after this is only replaced if it is empty.
	var st dirfd.Stat
	if parent.Stat(n.Name, &st) == nil {
		return errors.Join(swap.ErrChanged, apart.Rmdir(name))
	}
	if err := apart.Rename(name, parent, n.Name); err != nil {
		return errors.Join(err, apart.Rmdir(name))
	}
	return nil
}
