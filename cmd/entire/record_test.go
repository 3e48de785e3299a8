package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
)

// cmdRecord adds checkpoints to entire/checkpoints/v1 as another program would write them, one
// commit per folder. Each subfolder is named by the checkpoint's id and has the files of the
// checkpoint's directory. Files of earlier commits stay. A checkpoint without metadata of its
// own gets a default.
func cmdRecord(s *story, args []string) {
	if len(args) == 0 {
		s.ts.Fatalf("usage: record folder...")
	}
	for _, folder := range args {
		var stream strings.Builder
		message := "record " + folder
		fmt.Fprintf(&stream, "commit %s\ncommitter Ada Tester <ada@example.com> 1770000000 +0100\ndata %d\n%s\n", checkpoint.MetadataBranch, len(message), message)
		if tip := strings.TrimSpace(s.repo().Git("for-each-ref", "--format=%(objectname)", checkpoint.MetadataBranch)); tip != "" {
			fmt.Fprintf(&stream, "from %s\n", tip)
		}
		root := filepath.Join(s.ts.Getenv("WORK"), folder)
		s.ts.Check(filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || path == root {
				return err
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			name, file, below := strings.Cut(filepath.ToSlash(rel), "/")
			id, err := checkpoint.ParseID(name)
			if err != nil {
				return err
			}
			add := func(file, content string) {
				fmt.Fprintf(&stream, "M 100644 inline %s/%s\ndata %d\n%s\n", id.Dir(), file, len(content), content)
			}
			if !below {
				add("metadata.json", fmt.Sprintf("{\"checkpoint_id\": %q, \"sessions\": []}\n", id))
			}
			if entry.IsDir() {
				return nil
			}
			data, err := os.ReadFile(path)
			add(file, string(data))
			return err
		}))
		s.repo().GitInput(stream.String(), "fast-import", "--quiet", "--force")
	}
}

// cmdLose removes the objects of files on the metadata branch, given by their paths in its
// tree, as in a damaged or partial clone. It unpacks packs first.
func cmdLose(s *story, args []string) {
	r := s.repo()
	objects := strings.TrimSpace(r.Git("rev-parse", "--path-format=absolute", "--git-path", "objects"))
	packs, err := filepath.Glob(filepath.Join(objects, "pack", "*.pack"))
	s.ts.Check(err)
	for _, pack := range packs {
		data, err := os.ReadFile(pack)
		s.ts.Check(err)
		files, err := filepath.Glob(strings.TrimSuffix(pack, "pack") + "*")
		s.ts.Check(err)
		for _, file := range files {
			s.ts.Check(os.Remove(file))
		}
		r.GitInput(string(data), "unpack-objects", "-q")
	}
	for _, path := range args {
		oid := strings.TrimSpace(r.Git("rev-parse", checkpoint.MetadataBranch+":"+path))
		s.ts.Check(os.Remove(filepath.Join(objects, oid[:2], oid[2:])))
	}
}
