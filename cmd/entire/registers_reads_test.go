package main

import (
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// explainedPoint is a checkpoint in a list of explain.
type explainedPoint struct {
	ID        string
	Temporary bool
	Sessions  []string
	Files     []string        `json:"files_touched"`
	Tokens    *testkit.Tokens `json:"token_usage"`
	Commits   []struct{ OID string }

	AgentLines   *int `json:"agent_lines"`
	UnknownLines int  `json:"unknown_lines"`
	TotalLines   *int `json:"total_lines"`
	AgentRemoved *int `json:"agent_removed"`
	TotalRemoved *int `json:"total_removed"`
}

// explainedDetail is a checkpoint as explain shows it.
type explainedDetail struct {
	explainedPoint

	Author string

	Sessions []struct {
		ID          string
		Files       []string        `json:"files_touched"`
		Tokens      *testkit.Tokens `json:"token_usage"`
		Attribution *storedShare    `json:"initial_attribution"`
		Transcript  []struct {
			Role, Text string
			Line       int
		}
	}
}

func (r *registers) fromExplain() {
	tokens := map[string]usedTokens{} // of the checkpoints of a session
	items := map[string][]string{}    // the checkpoints that show a part of a turn
	requests := map[string]string{}
	for id := range r.Stored() {
		found := asked[struct{ Checkpoints []explainedDetail }](r, "explain", "--json", "--checkpoint", id)
		if len(found.Checkpoints) != 1 {
			r.TB.Fatalf("explain -c %s shows %d checkpoints", id, len(found.Checkpoints))
		}
		d := found.Checkpoints[0]
		var ids, files []string
		for _, s := range d.Sessions {
			ids, files = append(ids, s.ID), append(files, s.Files...)
			tokens[s.ID] = tokens[s.ID].plus(storedTokens(s.Tokens))
			for _, item := range s.Transcript {
				t := r.turnAt(s.ID, item.Line)
				if t == nil {
					r.t.Errorf("explain -c %s: line %d of %.8s is in no turn of log: %.60q", id, item.Line, s.ID, item.Text)
					continue
				}
				items[t.Turn.name()] = append(items[t.Turn.name()], id)
				if item.Role == "user" && requests[t.Turn.name()] == "" {
					requests[t.Turn.name()] = item.Text
				}
			}
			if s.Attribution != nil {
				r.reports("explain -c", "checkpoint "+id+" share", *s.Attribution)
			}
		}
		r.explained("explain -c", &d.explainedPoint)
		r.reports("explain -c", "checkpoint "+id+" author", d.Author)
		r.reports("git", "checkpoint "+id+" author", r.authorOf(id))
		r.reports("explain -c, sessions", "checkpoint "+id+" files", sorted(files))
		r.reports("explain -c", "checkpoint "+id+" sessions", sorted(ids))
		for i := range r.list {
			t := &r.list[i]
			if slices.Contains(t.Turn.Checkpoints, id) && !slices.Contains(ids, t.Turn.Session) {
				r.t.Errorf("%s is in checkpoint %s, which lacks its session", t.Turn.name(), id)
			}
		}
	}
	lists := [][]string{{"explain", "--json"}}
	for id, s := range r.bySession() {
		lists = append(lists, []string{"explain", "--json", "--session", id})
		r.reports("log", "session "+id[:8]+" tokens", s.tokens)
		r.reports("explain, all checkpoints", "session "+id[:8]+" tokens", tokens[id].plus(s.unlinked))
	}
	for _, list := range lists {
		for _, p := range asked[struct{ Checkpoints []explainedPoint }](r, list...).Checkpoints {
			if p.Temporary {
				continue
			}
			r.explained(strings.Join(list[:len(list)-len(list)/4], " "), &p)
			r.reports("explain --json", "checkpoint "+p.ID+" sessions", sorted(p.Sessions))
			if p.AgentLines != nil {
				share := storedShare{*p.AgentLines, p.UnknownLines, *p.TotalLines, *p.AgentRemoved, *p.TotalRemoved - *p.AgentRemoved}
				r.reports("explain --json", "checkpoint "+p.ID+" share", share)
			}
		}
	}
	for i := range r.list {
		t := &r.list[i].Turn
		r.reports("explain", t.name()+" checkpoints", sorted(items[t.name()]))
		if requests[t.name()] != "" {
			r.reports("explain", t.name()+" request", requests[t.name()])
		}
	}
}

// explained records what a source reports of a checkpoint.
func (r *registers) explained(source string, p *explainedPoint) {
	name := "checkpoint " + p.ID
	var oids []string
	for _, c := range p.Commits {
		oids = append(oids, c.OID)
	}
	r.reports(source, name+" files", sorted(p.Files))
	r.reports(source, name+" tokens", storedTokens(p.Tokens))
	if strings.HasPrefix(source, "explain --json") { // it lists the commits of the branch
		name += " on this branch:"
	}
	r.reports(source, name+" commits", sorted(oids))
	of := r.of(p.ID)
	r.reports("git", "checkpoint "+p.ID+" commits", of)
	of = slices.DeleteFunc(of, func(oid string) bool {
		return !slices.ContainsFunc(r.commits, func(c linkedCommit) bool { return c.oid == oid && c.head })
	})
	r.reports("git", "checkpoint "+p.ID+" on this branch: commits", of)
}

// turnAt returns the turn of a session that has a line, nil if there is none.
func (r *registers) turnAt(session string, line int) *loggedTurn {
	for i := range r.list {
		if t := &r.list[i]; t.Turn.Session == session && t.Turn.Line <= line && line < t.Turn.EndLine {
			return t
		}
	}
	return nil
}

// turnFrom returns the first turn of a session from a line on, as the authors of lines name turns.
func (r *registers) turnFrom(session string, line int) (found *loggedTurn) {
	for i := range r.list {
		if t := &r.list[i]; t.Turn.Session == session && t.Turn.Line >= line && (found == nil || t.Turn.Line < found.Turn.Line) {
			found = t
		}
	}
	return found
}

func (r *registers) fromCommits() {
	for i := range r.commits {
		c := &r.commits[i]
		var ids []string
		for _, d := range asked[struct{ Checkpoints []explainedDetail }](r, "explain", "--json", "--short", "--commit", c.oid).Checkpoints {
			r.explained("explain COMMIT", &d.explainedPoint)
			r.reports("explain COMMIT", "checkpoint "+d.ID+" author", d.Author)
			ids = append(ids, d.ID)
			for _, path := range d.Files {
				if len(c.checkpoints) == 1 && len(r.of(d.ID)) == 1 && !slices.Contains(c.files, path) {
					r.t.Errorf("%s: explain names %s, which it doesn't change", c.name(), path)
				}
			}
		}
		r.reports("explain COMMIT", c.name()+" checkpoints", sorted(ids))
	}
}

// blamedFile is the output of blame.
type blamedFile struct {
	Authors []struct {
		Kind, Session, Checkpoint string
		Turn                      *struct {
			Prompt string
			Line   int
		}
	}
	Lines []struct {
		Author int
		Commit string
	}
}

// lineShare are lines by the kind of their author.
type lineShare struct{ agent, person, unknown int }

func (s *lineShare) total() int { return s.agent + s.person + s.unknown }

func (r *registers) fromBlame() {
	for i := range r.commits {
		c := &r.commits[i]
		var share lineShare
		for _, path := range c.files {
			if strings.HasPrefix(path, ".") || r.TryGit("cat-file", "-e", c.oid+":"+path).Code != 0 {
				continue
			}
			f := asked[blamedFile](r, "blame", "--json", c.oid, path)
			for _, l := range f.Lines {
				a := f.Authors[l.Author]
				if l.Commit != c.oid {
					continue
				}
				switch a.Kind {
				case "agent":
					share.agent++
				case "unknown":
					share.unknown++
				default:
					share.person++
				}
				if a.Kind != "agent" || a.Turn == nil {
					continue
				}
				t := r.turnFrom(a.Session, a.Turn.Line)
				if t == nil {
					r.t.Errorf("%s, %s: blame names a turn of %.8s at line %d, which log lacks", c.name(), path, a.Session, a.Turn.Line)
					continue
				}
				r.reports("blame", t.Turn.name()+" request", a.Turn.Prompt)
				if !slices.Contains(t.files(), path) && !slices.ContainsFunc(t.files(), func(p string) bool { return strings.HasPrefix(p, path[:7]) }) {
					r.t.Errorf("%s: blame names it for a line of %s, its files are %q", t.Turn.name(), path, t.files())
				}
				if !slices.Contains(t.Turn.oids(), c.oid) {
					r.t.Errorf("%s: blame names it for %s, its commits are %q", t.Turn.name(), c.name(), t.Turn.oids())
				}
			}
		}
		if share.total() == c.added { // else some lines were moved from other files
			r.reports("blame", c.name()+" share", share)
			r.storedShares(c, share)
		}
	}
}

// storedShares records the shares that the checkpoint of a commit has, if it has no other commit.
func (r *registers) storedShares(c *linkedCommit, share lineShare) {
	if len(c.checkpoints) != 1 || len(r.of(c.checkpoints...)) != 1 {
		return
	}
	for _, slot := range r.Stored()[c.checkpoints[0]].Slots {
		if a := slot.Meta.Attribution; a != nil {
			r.reports("checkpoint", c.name()+" agents', unknown and all lines", fmt.Sprint(a["agent_lines"], a["unknown_lines"], a["total_committed"]))
			r.reports("blame", c.name()+" agents', unknown and all lines", fmt.Sprint(share.agent, share.unknown, share.total()))
		}
	}
}

// fromReport reads the pages of the whole history.
func (r *registers) fromReport() {
	row := regexp.MustCompile(`^\| ([0-9a-f]{7}) \| .* \| (\d+) \| ([^|]*) \| ([^|]*) \|$`)
	plain := strings.NewReplacer("\\", "", "`", "")
	text := r.Entire("report", "--md", "-")
	entry := regexp.MustCompile(`^\d+\. (.*) {2}$`)
	var requests []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := row.FindStringSubmatch(line); m != nil {
			i := slices.IndexFunc(r.commits, func(c linkedCommit) bool { return strings.HasPrefix(c.oid, m[1]) })
			if i < 0 {
				r.t.Errorf("report has the commit %s, which is on no branch", m[1])
				continue
			}
			r.reports("report --md", r.commits[i].name()+" checkpoints", sorted(strings.Fields(strings.ReplaceAll(m[4], "`", ""))))
			r.reports("report --md", r.commits[i].name()+" lines", m[2]+", agent "+strings.TrimSpace(m[3]))
		}
		if m := entry.FindStringSubmatch(line); m != nil {
			requests = append(requests, plain.Replace(m[1]))
		}
	}
	var logged []string
	for i := range r.list {
		logged = append(logged, r.list[i].Turn.Prompt)
	}
	r.reports("log", "requests of all turns", strings.Join(logged, "; "))
	r.reports("report --md", "requests of all turns", strings.Join(requests, "; "))
	r.fromPage()
}

// fromPage reads the page of HTML.
func (r *registers) fromPage() {
	page := r.Entire("report", "--html", "-")
	cell := regexp.MustCompile(`<td class="n">([^<]*)</td>`)
	for i := range r.commits {
		c := &r.commits[i]
		_, rest, found := strings.Cut(page, "><code>"+c.oid[:7]+"</code> ")
		row, _, _ := strings.Cut(rest, "</tr>")
		if cells := cell.FindAllStringSubmatch(row, -1); found && len(cells) > 1 {
			r.reports("report --html", c.name()+" lines", cells[0][1]+", agent "+html.UnescapeString(cells[1][1]))
		}
	}
}

// fromServer asks the MCP server.
func (r *registers) fromServer() {
	var in strings.Builder
	in.WriteString(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n")
	in.WriteString(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	const first = 2
	for i := range r.list {
		word := regexp.MustCompile(`request\d+number`).FindString(r.list[i].Turn.Prompt)
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"history_search","arguments":{"query":"%s","kind":"prompt"}}}`+"\n", first+i, word)
	}
	for i := range r.commits {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"history_why","arguments":{"commit":"%s"}}}`+"\n", first+len(r.list)+i, r.commits[i].oid)
	}
	type turn struct{ Prompt, Changed, Session, Checkpoint, Commit string }
	out := testkit.Call{Dir: r.Dir, Env: r.Env, Name: "entire", Args: []string{"mcp"}, Stdin: in.String()}.Must(r.TB)
	for line := range strings.Lines(out) {
		var answer struct {
			ID     int
			Result struct {
				Structured struct {
					Turns  []turn
					Author struct{ Checkpoint, Prompt, Session string }
				} `json:"structuredContent"`
			}
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			r.TB.Fatalf("%v\n%s", err, line)
		}
		for _, got := range answer.Result.Structured.Turns {
			for i := range r.list {
				if t := &r.list[i].Turn; t.Session == got.Session && t.Prompt == got.Prompt {
					r.served(t, got.Changed, got.Checkpoint, got.Commit)
				}
			}
		}
		if n := answer.ID - first - len(r.list); n >= 0 {
			c := &r.commits[n]
			if id := answer.Result.Structured.Author.Checkpoint; id != "" && !slices.Contains(c.checkpoints, id) {
				r.t.Errorf("%s: history_why names checkpoint %s, git %q", c.name(), id, c.checkpoints)
			}
		}
	}
}

// served compares what the server reports of a turn.
func (r *registers) served(t *shownTurn, changed, checkpoint, commit string) {
	if t.Files > 0 {
		r.reports("mcp", t.name()+" changed", changed)
	}
	if checkpoint != "" && !slices.Contains(t.Checkpoints, checkpoint) || checkpoint == "" && len(t.Checkpoints) > 0 {
		r.t.Errorf("%s: the server names checkpoint %q, log %q", t.name(), checkpoint, t.Checkpoints)
	}
	known := slices.ContainsFunc(t.oids(), func(oid string) bool { return strings.HasPrefix(oid, commit) })
	if commit != "" && !known || commit == "" && len(t.Commits) > 0 {
		r.t.Errorf("%s: the server names commit %q, log %q", t.name(), commit, t.oids())
	}
}
