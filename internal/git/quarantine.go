package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
)

const asidePrefix = "tmp_objdir-entire-"

// Quarantine runs do with an environment in which git writes objects into a separate directory, and
// then takes the objects from there: git names objects before it syncs them, and if it is
// configured to sync, it syncs one by one.
func (l *LooseObjects) Quarantine(do func(env []string) error) (err error) {
	aside, err := os.MkdirTemp(l.dir, asidePrefix) // git's prune removes it after a crash
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(aside)) }()
	others := l.dir
	if strings.ContainsAny(others, "\"\\\n"+string(os.PathListSeparator)) {
		others = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(others) + `"`
	}
	if l.alternates != "" {
		others += string(os.PathListSeparator) + l.alternates
	}
	failed := do([]string{"GIT_OBJECT_DIRECTORY=" + aside, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + others})
	return errors.Join(failed, l.adopt(aside))
}

// adopt adds the loose objects of a directory to the pending ones.
func (l *LooseObjects) adopt(aside string) error {
	for _, path := range disk.Glob(aside, "[0-9a-f][0-9a-f]", "*") {
		oid := OID(filepath.Base(filepath.Dir(path)) + filepath.Base(path))
		if !l.format.Valid(oid) { // a tmp_obj_* of a killed git
			continue
		}
		temp := filepath.Join(l.dir, "tmp_obj_"+strings.TrimPrefix(filepath.Base(aside), asidePrefix)+"_"+string(oid[:8]))
		info, err := os.Stat(path)
		if err == nil {
			err = l.makeFanout(filepath.Dir(loosePath(l.dir, oid)))
		}
		if err == nil {
			err = os.Rename(path, temp)
		}
		if err == nil {
			err = l.pending.add(oid, "blob", temp, nil, int(info.Size()))
		}
		if err != nil {
			return fmt.Errorf("write objects: %w", err)
		}
	}
	return nil
}
