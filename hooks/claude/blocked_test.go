package claude_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/hooks/claude"
)

func TestBlockedNamesDisablingSettings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		project, managed string
		want             []string
	}{
		"nothing":                  {project: `{"hooks":{}}`},
		"no file":                  {},
		"off":                      {project: `{"disableAllHooks":true}`, want: []string{"project disableAllHooks"}},
		"off, with comments":       {project: "{\n// no\n\"disableAllHooks\": true,}", want: []string{"project disableAllHooks"}},
		"on, said":                 {project: `{"disableAllHooks":false}`},
		"broken":                   {project: `{"disableAllHooks":true`},
		"another type":             {project: `{"disableAllHooks":"yes"}`},
		"only managed":             {managed: `{"allowManagedHooksOnly":true}`, want: []string{"managed allowManagedHooksOnly"}},
		"only managed, by project": {project: `{"allowManagedHooksOnly":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			project, managed := filepath.Join(dir, "project"), filepath.Join(dir, "managed")
			if c.project != "" {
				write(t, project, c.project)
			}
			if c.managed != "" {
				write(t, managed, c.managed)
			}
			var got []string
			for _, b := range claude.Blocked([]string{project}, []string{managed}) {
				got = append(got, filepath.Base(b.File)+" "+b.Key)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
