package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// MapPersons replaces the names and addresses of persons by those that git's mailmap has for them: the
// file .mailmap of the worktree, and those of the settings mailmap.file and mailmap.blob.
func MapPersons(ctx context.Context, r *Repo, persons []*Signature) error {
	var contacts strings.Builder
	var mapped []*Signature
	for _, p := range persons {
		if p.Email == "" || strings.ContainsAny(p.Name+p.Email, "<>\n") || strings.TrimSpace(p.Email) != p.Email {
			continue // git can't read it
		}
		contacts.WriteString(strings.TrimSpace(p.Name+" <"+p.Email+">") + "\n")
		mapped = append(mapped, p)
	}
	if len(mapped) == 0 {
		return nil
	}
	out, err := r.Do(ctx, Command{Args: []string{"check-mailmap", "--stdin"}, Stdin: strings.NewReader(contacts.String())})
	if err != nil {
		return fmt.Errorf("read the mailmap: %w", err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(mapped) {
		return fmt.Errorf("read the mailmap: %d lines for %d persons", len(lines), len(mapped))
	}
	for i, line := range lines {
		name, address, ok := strings.Cut(strings.TrimSuffix(line, ">"), "<")
		if ok {
			mapped[i].Name, mapped[i].Email = strings.TrimSpace(name), address
		}
	}
	return nil
}

// AuthorAddresses returns the addresses of the authors of the latest 1,000 commits of a history, by git's
// mailmap.
func AuthorAddresses(ctx context.Context, r *Repo, tip OID) ([]string, error) {
	out, err := r.Run(ctx, "shortlog", "--summary", "--email", "--max-count=1000", string(tip), "--")
	if err != nil {
		return nil, fmt.Errorf("list authors: %w", err)
	}
	var list []string
	for line := range strings.Lines(string(out)) {
		_, address, _ := strings.Cut(strings.TrimSuffix(line, ">\n"), "<") // after their number and the name
		list = append(list, address)
	}
	return list, nil
}

// Mailmap returns the content of the file .mailmap of the worktree, empty without one.
func Mailmap(r *Repo) []byte {
	const most = 1 << 20
	path := filepath.Join(r.Root, ".mailmap")
	if info, err := os.Lstat(path); r.Root == "" || err != nil || !info.Mode().IsRegular() || info.Size() > most { // git doesn't follow a link
		return nil
	}
	data, _ := os.ReadFile(path) // one that can't be read maps nobody
	return data
}
