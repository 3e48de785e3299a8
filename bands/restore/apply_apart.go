package restore

import (
	"errors"
	"slices"

	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// manyFiles is the least number of files for which mkdirApart is used.
const manyFiles = 2000

// many reports whether many files are created in the directory and below it.
func (n *dirNode) many() bool {
	count := 0
	var visit func(n *dirNode) bool
	visit = func(n *dirNode) bool {
		if count += n.Count; count >= manyFiles || n.Files >= manyFiles {
			return true
		}
		return slices.ContainsFunc(n.Kids, visit)
	}
	return visit(n)
}

// mkdirApart creates the node's directory where, on ext4, nothing was deleted recently. To create
// a file, ext4 first examines every inode of the directory's block group that was freed in the
// last minutes, and uses none of them: after the deletion of a node_modules, each file of its
// restore would take ten times as long as elsewhere. The group of a directory whose parent has
// the flag for top directories depends on the hash of its name.
func (a *applier) mkdirApart(n *dirNode, mode uint32) (err error) {
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
	// A directory that appears after this check is replaced only if it is empty.
	var st dirfd.Stat
	if parent.Stat(n.Name, &st) == nil {
		return errors.Join(dirfd.ErrChanged, apart.Rmdir(name))
	}
	if err := apart.Rename(name, parent, n.Name); err != nil {
		return errors.Join(err, apart.Rmdir(name))
	}
	return nil
}
