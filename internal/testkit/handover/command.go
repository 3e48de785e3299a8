package main

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// outcome is the outcome of a command, as far as its output shows it.
type outcome int

const (
	unclear outcome = iota
	passed
	failed
)

var (
	exitCode = regexp.MustCompile(`(?m)^Exit code (\d+)`)
	failures = regexp.MustCompile(`(?i)\b(\d+) +(?:tests? |specs? )?(?:fail(?:ed|ures?|ing)?|errors?|issues?)\b|\b(?:fail(?:ed|ures)?|errors) *[:=] *(\d+)\b`)
	passes   = regexp.MustCompile(`(?i)\b(\d+) +(?:tests? |specs? )?pass(?:ed|ing|es)?\b|\bpass(?:ed)? *[:=] *(\d+)\b`)
	// scriptFailed is the last line of a failed script runner, which a pipe doesn't hide.
	scriptFailed = regexp.MustCompile(`(?m)^\s*error: script ".*" exited with code [1-9]`)
	goFailed     = regexp.MustCompile(`(?m)^(?:\s*--- FAIL|FAIL\b)`)
	goPassed     = regexp.MustCompile(`(?m)^(?:ok\s+\S|PASS$)`)
)

// counts reports whether the runner's last counts of failures and passes are nonzero: 1 or 0 each,
// and -1 if there is no count.
func counts(output string) (bad, good int) {
	last := func(list [][]string) int {
		if len(list) == 0 {
			return -1
		}
		for _, digits := range list[len(list)-1][1:] {
			if strings.Trim(digits, "0") != "" {
				return 1
			}
		}
		return 0
	}
	return last(failures.FindAllStringSubmatch(output, -1)), last(passes.FindAllStringSubmatch(output, -1))
}

// outcome returns the outcome of the call: by the runner's own count, else by its exit status. The
// status of a pipe is that of its last command, so a pipe without a count is unclear.
func (c *call) outcome() outcome {
	if !c.ended || c.refused {
		return unclear
	}
	if c.name != "Bash" {
		if c.failed {
			return failed
		}
		return passed
	}
	bad, good := counts(c.output)
	isRunner := slices.ContainsFunc(strings.Fields("test check lint build tsc vet pytest jest vitest"),
		func(s string) bool { return strings.Contains(c.input.Command, s) })
	m := exitCode.FindStringSubmatch(c.output)
	status := c.failed && (m == nil || m[1] != "0")
	switch {
	case scriptFailed.MatchString(c.output):
		return failed
	case bad == 0 && good > 0 && !goFailed.MatchString(c.output) && !status:
		return passed
	case status, goFailed.MatchString(c.output), bad > 0 && isRunner && (good >= 0 || strings.ContainsAny(c.input.Command, "|;")):
		return failed
	case bad > 0 && good < 0:
		return unclear // error lines of a program that exited with 0
	case strings.HasPrefix(c.output, "error: "):
		return failed
	case goPassed.MatchString(c.output) || !strings.ContainsAny(c.input.Command, "|;"):
		return passed
	}
	return unclear
}

var (
	assigned = regexp.MustCompile(`^(?:\w+=\S*\s+)+`)
	redirect = regexp.MustCompile(`\s*\d?>+\s*(?:&\d|\S+)`)
	operator = regexp.MustCompile(`&&|\|\||;|\n`)
)

// simple returns the commands of a command line, without cd, echo and sleep, redirections,
// assignments, and the rest of a pipe.
func simple(line string) []string {
	var list []string
	for _, part := range operator.Split(line, -1) {
		part, _, _ = strings.Cut(part, " | ")
		part = strings.TrimSpace(redirect.ReplaceAllString(part, ""))
		part = assigned.ReplaceAllString(part, "")
		if name, _, _ := strings.Cut(part, " "); part != "" && name != "cd" && name != "echo" && name != "sleep" {
			list = append(list, strings.Join(strings.Fields(part), " "))
		}
	}
	return list
}

var (
	committedAs = regexp.MustCompile(`(?m)^\[([^\]\n]+?)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.*)$`)
	gitCommit   = regexp.MustCompile(`\bgit\s+(?:-\S+\s+\S+\s+)?commit\b`)
	// commitMessage matches the first line of a message, which may be in a here document.
	commitMessage = regexp.MustCompile(`commit\b[^\n]*?\s-\w*m\s+["'](?:\$\(cat <<'?EOF'?\n([^\n]*)|([^"'\n]+))`)
	gitPush       = regexp.MustCompile(`\bgit\s+(?:-\S+\s+\S+\s+)?push\b`)
	gitAdd        = regexp.MustCompile(`\bgit\s+(?:-\S+\s+\S+\s+)?(?:add|rm|mv)\s+([^&|;\n]+)`)
	commitAll     = regexp.MustCompile(`\bcommit\s+(?:\S+\s+)*?(?:-\w*a\w*\b|--all\b)`)
	pushedTo      = regexp.MustCompile(`(?m)(?:->|\[new branch\]|Everything up-to-date|set up to track|^ok ✓)`)
	// absoluteCd matches the absolute folder of a cd.
	absoluteCd = regexp.MustCompile(`(?m)(?:^|[;&|])\s*cd\s+["']?(/[^\s"';&|]*)`)
	addsAll    = regexp.MustCompile(`^(?:-A|--all|\.|-u|:/)$`)
)

// commit is a commit by the session, at an event. Some wrappers of git print no hash.
type commit struct {
	hash, subject string
	at            int
	amends        bool
}

// commits returns the commits of the session's commands, from their output.
func (t *transcript) commits() []commit {
	var list []commit
	for i, e := range t.events {
		if e.kind != toolCall || e.call.name != "Bash" || !e.call.ended || !gitCommit.MatchString(e.call.input.Command) || t.leaves(e.call.input.Command) {
			continue
		}
		amends := strings.Contains(e.call.input.Command, "--amend")
		made := committedAs.FindAllStringSubmatch(e.call.output, -1)
		for _, m := range made {
			list = append(list, commit{m[2], m[3], i, amends})
		}
		lines := strings.Split(strings.TrimSpace(e.call.output), "\n")
		if len(made) == 0 && !e.call.failed && strings.HasPrefix(lines[len(lines)-1], "ok ✓") {
			if m := commitMessage.FindStringSubmatch(e.call.input.Command); m != nil {
				list = append(list, commit{"", m[1] + m[2], i, amends})
			}
		}
	}
	return list
}

// leaves reports whether a command changes into a folder outside the session's root: its commits
// are in another repository.
func (t *transcript) leaves(command string) bool {
	cd := absoluteCd.FindStringSubmatch(command)
	return cd != nil && t.root != "" && !strings.HasPrefix(cd[1]+"/", t.root+"/") && !strings.HasPrefix(t.root+"/", strings.TrimSuffix(cd[1], "/")+"/")
}

// pushedAfter reports whether a push succeeded at or after an event.
func (t *transcript) pushedAfter(at int) bool {
	for _, e := range t.events[max(at, 0):] {
		if e.kind == toolCall && e.call.name == "Bash" && e.call.ended && !e.call.failed && gitPush.MatchString(e.call.input.Command) && pushedTo.MatchString(e.call.output) {
			return true
		}
	}
	return false
}

// coverage tells whether a commit has a file's last edit.
type coverage int

const (
	unknownCover coverage = iota
	inCommit
	notInCommit
)

// covered returns whether a commit of the session has the last edit of a file. It is unknown if a
// commit followed whose paths can't be determined.
func (t *transcript) covered(file string) coverage {
	last := t.lastEdit(file)
	if last < 0 {
		return unknownCover
	}
	done := t.commits()
	if !slices.ContainsFunc(done, func(c commit) bool { return c.at > last }) {
		return notInCommit
	}
	staged, foreign := false, false
	for i := last + 1; i < len(t.events); i++ {
		e := t.events[i]
		if e.kind != toolCall || e.call.name != "Bash" || t.leaves(e.call.input.Command) {
			continue
		}
		adds, unreadable := addsFile(e.call.input.Command, file)
		staged, foreign = staged || adds, foreign || unreadable
		if !slices.ContainsFunc(done, func(c commit) bool { return c.at == i }) {
			continue
		}
		switch {
		case staged:
			return inCommit
		case foreign || !gitAdd.MatchString(e.call.input.Command):
			return unknownCover // it includes files staged before
		}
	}
	return notInCommit
}

// lastEdit returns the event of the last edit of a file, -1 if there is none.
func (t *transcript) lastEdit(file string) int {
	last := -1
	for i, e := range t.events {
		if e.kind == toolCall && e.call.edits() && t.path(e.call) == file {
			last = i
		}
	}
	return last
}

// addsFile reports whether a command line stages a file, and whether it stages paths that can't be
// determined from it.
func addsFile(command, file string) (adds, unreadable bool) {
	if commitAll.MatchString(command) {
		return true, false
	}
	for _, m := range gitAdd.FindAllStringSubmatch(strings.ReplaceAll(command, "\\\n", " "), -1) {
		for arg := range strings.FieldsSeq(m[1]) {
			arg = strings.Trim(arg, `"'\`)
			clean := path.Clean(arg)
			switch {
			case addsAll.MatchString(arg), clean == file, strings.HasPrefix(file, clean+"/"), strings.HasSuffix(clean, "/"+file):
				adds = true
			case strings.ContainsAny(arg, "*$"), strings.HasSuffix(file, "/"+strings.TrimPrefix(clean, "../")), strings.Contains(clean, ".."):
				unreadable = true
			}
		}
	}
	return adds, unreadable
}
