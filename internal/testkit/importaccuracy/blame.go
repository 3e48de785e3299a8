package importaccuracy

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// line is a line of a file, with the author that `entire blame` prints.
type line struct {
	path, text, commit string
	number             int
	// origin and originNumber are the path and number in the commit.
	origin       string
	originNumber int
	kind         string // agent, person, unknown
	session      string // without the date that the existing tool puts before some ids
	prompt, call string
	reason       string
}

func (l line) where() string { return fmt.Sprintf("%s:%d", l.path, l.number) }

// author describes the author of the line.
func (l line) author() string {
	if l.kind != "agent" {
		return strings.TrimSpace(l.kind + " (" + l.reason + ")")
	}
	return fmt.Sprintf("session %.8s %.60q", l.session, l.prompt)
}

// blame is the output of `entire blame --json`.
type blame struct {
	Authors []struct {
		Kind    string `json:"kind"`
		Session string `json:"session"`
		Reason  string `json:"reason"`
		Call    string `json:"call"`
		Turn    *struct {
			Prompt string `json:"prompt"`
		} `json:"turn"`
	} `json:"authors"`
	Lines []struct {
		Line   int    `json:"line"`
		Author int    `json:"author"`
		Commit string `json:"commit"`
		Path   string `json:"path"`
		Number int    `json:"original_line"`
		Text   string `json:"text"`
	} `json:"lines"`
}

// blameFile returns the lines of a file of HEAD. Files without lines have none.
func blameFile(repo *testkit.Repo, path string) []line {
	result := repo.TryEntire("blame", "--json", "HEAD", path)
	var out blame
	if err := json.Unmarshal([]byte(result.Stdout), &out); err != nil || result.Code != 0 {
		return nil
	}
	lines := make([]line, 0, len(out.Lines))
	for _, l := range out.Lines {
		a := out.Authors[l.Author]
		one := line{path: path, text: l.Text, commit: l.Commit, number: l.Line, origin: l.Path, originNumber: l.Number, kind: a.Kind, session: undated(a.Session), call: a.Call, reason: a.Reason}
		if a.Turn != nil {
			one.prompt = strings.Join(strings.Fields(a.Turn.Prompt), " ")
		}
		lines = append(lines, one)
	}
	return lines
}

// blameAll returns the lines of all given files, by path.
func blameAll(repo *testkit.Repo, paths []string) map[string][]line {
	const workers = 2
	var mu sync.Mutex // guards all
	var group sync.WaitGroup
	all := map[string][]line{}
	queue := make(chan string)
	for range workers {
		group.Go(func() {
			for path := range queue {
				lines := blameFile(repo, path)
				mu.Lock()
				all[path] = lines
				mu.Unlock()
			}
		})
	}
	for _, path := range paths {
		queue <- path
	}
	close(queue)
	group.Wait()
	return all
}

// undated returns the agent's id of a session. Early versions of the existing tool put a date before
// it.
func undated(session string) string {
	const date, id = len("2006-01-02-"), 36
	if len(session) == date+id && session[4] == '-' && session[date-1] == '-' {
		return session[date:]
	}
	return session
}
