package tracking

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/recall/shellcmd"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

const (
	// mostOfTranscript is the maximum size of the end of a transcript that is searched for the
	// calls that wrote lines, mostOfAgents that of all transcripts of subagents.
	mostOfTranscript = 1 << 20
	mostOfAgents     = 4 << 20
)

// ReadWrites reads the calls of a session and of its subagents that wrote files, from a line of
// its transcript up to a cursor. Transcripts that can't be read are left out.
func ReadWrites(ctx context.Context, w *workspace.Workspace, s *session.State, first int, to transcript.Cursor) *transcript.Writes {
	writes := &transcript.Writes{Root: w.Repo.Root}
	if s.Recorder.Launched != "" {
		writes.Adapt = func(command, dir string) (string, bool) {
			c := transcript.Call{Command: command, Dir: dir}
			return adapted(w.Repo, c), worksIn(w.Repo, c)
		}
	}
	note := func(err error) {
		if err != nil && !errors.Is(err, transcript.ErrNotFound) && !errors.Is(err, fs.ErrNotExist) {
			w.Log.InfoContext(ctx, "calls that wrote the lines not read", "session_id", s.ID, "error", err.Error())
		}
	}
	if s.TranscriptPath == "" {
		return writes
	}
	note(writes.ReadEnd(ctx, s.TranscriptPath, to, first, mostOfTranscript))
	room := int64(mostOfAgents)
	for _, task := range s.Recorder.Tasks {
		f, found := transcript.FindSubagent(s.TranscriptPath, task.Agent)
		if !found || f.Size > room {
			continue
		}
		room -= f.Size
		writes.Subagent = task.Agent
		note(writes.ReadEnd(ctx, f.Path, transcript.Cursor{Offset: f.Size}, 0, f.Size))
	}
	return writes
}

// Work is the work of a turn, as the transcripts show it.
type Work struct {
	repo *git.Repo
	read func() *transcript.Writes // the calls, when they are first needed
	// hasTask reports whether the transcript of the subagent is read that a call started.
	hasTask func(call string) bool
	// isElsewhere reports that the session started outside of the repository.
	isElsewhere bool
	turn        session.Turn
	parsed      map[string]parsedCommand
	next        *session.Turn // nil for the session's last turn
}

// WorkOf returns the work of a turn of the session, whose transcript has been read up to a cursor.
// next is the turn after it, nil if there is none.
func WorkOf(ctx context.Context, w *workspace.Workspace, s *session.State, to transcript.Cursor, turn session.Turn, next *session.Turn) *Work {
	read := sync.OnceValue(func() *transcript.Writes { return ReadWrites(ctx, w, s, turn.Line, to) })
	hasTask := func(call string) bool {
		task := s.Recorder.FindTask(ByToolUse(call))
		if task == nil {
			return false
		}
		_, found := transcript.FindSubagent(s.TranscriptPath, task.Agent)
		return found
	}
	return &Work{repo: w.Repo, read: read, hasTask: hasTask, isElsewhere: s.Recorder.Launched != "", turn: turn, next: next, parsed: map[string]parsedCommand{}}
}

// has reports whether a call belongs to the turn: by its place in the transcript, or for a
// subagent, or if the place of the next prompt isn't known, by its time.
func (w *Work) has(call transcript.Write) bool {
	at := call.Begun()
	if call.Subagent != "" {
		return !at.Before(w.turn.Start.Add(-workspace.ClockSlack)) && (w.next == nil || at.Before(w.next.Start))
	}
	return call.Line >= w.turn.Line && !w.isLater(call)
}

// isAfter reports whether a call belongs to a turn after this one.
func (w *Work) isAfter(call transcript.Write) bool {
	if call.Subagent != "" {
		return w.next != nil && !call.Begun().Before(w.next.Start)
	}
	return w.isLater(call)
}

// isLater reports whether a call of the main agent belongs to a later turn.
func (w *Work) isLater(call transcript.Write) bool {
	switch {
	case w.next == nil || call.Line < w.next.Line:
		return false
	case w.next.Offset > 0 && !call.Begun().IsZero():
		return !call.Begun().Before(w.next.Start)
	}
	return true
}

// Reaches reports whether a command of the turn that had begun at a time names the path, a
// directory above it, or a pattern that it matches. The time may be zero.
func (w *Work) Reaches(path string, at time.Time) bool {
	began := func(call transcript.Write) bool {
		return w.has(call) && (at.IsZero() || call.Begun().IsZero() || !at.Before(call.Begun().Add(-workspace.ClockSlack)))
	}
	return w.reach(w.read().Commands(nil, nil, began), path) == reached
}

// MayWrite reports whether a call, or a command of a subagent that ran at that time, may have
// changed the path.
func (w *Work) MayWrite(call transcript.Call, path string, at time.Time) bool {
	if transcript.IsTask(call.Tool) {
		if !w.hasTask(call.ID) {
			return !w.isElsewhere
		}
		ran := func(c transcript.Write) bool { return c.Subagent != "" && c.Ran(at, workspace.ClockSlack) }
		return w.reach(w.read().Commands(nil, nil, ran), path) != unreached
	}
	isCall := func(c transcript.Write) bool { return c.Call == call.ID }
	commands := w.read().Commands(nil, nil, isCall)
	if call.ID == "" || len(commands) == 0 {
		return true
	}
	able := w.reach(commands, path)
	ran := !at.Before(call.Start.Add(-coarse)) && (call.Open || !at.After(call.End.Add(coarse)))
	return able == reached || able == reachable && ran
}

// coarse bounds how far the file system's clock is behind. Calls that don't name a file must have run
// when it changed, without more slack.
const coarse = 15 * time.Millisecond

// IsSeen reports whether the transcripts show a call of an edit tool that changed the path, or the
// end of a call at that time or later.
func (w *Work) IsSeen(path string, at time.Time) bool {
	return len(w.read().States([]string{path}, w.has)) > 0 || w.read().EndedAfter(at.Add(-workspace.ClockSlack), w.has)
}

// reach is how a command may change a file.
type reach int

const (
	// unreached: the command changes only files that it names, and doesn't name this one.
	unreached reach = iota
	// reachable: the command may change any file.
	reachable
	// reached: the command names the file.
	reached
)

// reach returns the greatest reach of commands. A call without a command may change any file.
func (w *Work) reach(commands []string, path string) reach {
	most := unreached
	if !utf8.ValidString(path) { // transcripts can't hold the name
		most = reachable
	}
	for _, command := range commands {
		c := w.parse(command)
		if slices.ContainsFunc(c.words, func(word string) bool { return wordNames(word, path) }) || quotes(command, path) {
			return reached
		}
		most = max(most, c.least)
	}
	return most
}

func (w *Work) parse(command string) parsedCommand {
	c, known := w.parsed[command]
	if !known {
		c = parseCommand(w.repo, command)
		w.parsed[command] = c
	}
	return c
}

// MayChange returns a function that reports whether a command may change a file that has one of the
// names. It parses each command once.
func MayChange(repo *git.Repo) func(command string, names []string) bool {
	w := Work{repo: repo, parsed: map[string]parsedCommand{}}
	return func(command string, names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return w.reach([]string{command}, name) != unreached })
	}
}

// quotes reports whether a command has the text of an element of the path that isn't a word, as it has
// characters at which commands are split, or begins as an option does.
func quotes(command, path string) bool {
	plain := strings.NewReplacer(`\`, "", "'", "", `"`, "").Replace
	return slices.ContainsFunc(strings.Split(path, "/"), func(name string) bool {
		return (strings.ContainsAny(name, separators) || name[0] == '-') && strings.Contains(plain(command), plain(name))
	})
}

// parsedCommand is a command with the words that may name paths, its reach to any other path, and the
// words of its simple commands.
type parsedCommand struct {
	words  []string
	least  reach
	simple [][]string
}

func parseCommand(repo *git.Repo, command string) parsedCommand {
	line := shellcmd.Split(command)
	c := parsedCommand{words: wordsOf(repo, command), simple: line.Words()}
	isOpen := func(words []string) bool { return len(words) > 0 && !changesOnlyNamed(words) }
	if command == "" || expands(command) || !line.IsWhole() || slices.ContainsFunc(c.simple, isOpen) {
		c.least = reachable
	}
	// A file that is only read doesn't change, nor do the files in a directory that is only made.
	listed := map[string]int{}
	for _, words := range c.simple {
		if len(words) > 0 && (words[0] == "mkdir" || onlyReads(words)) {
			for _, word := range wordsOf(repo, strings.Join(words[1:], " ")) {
				listed[word]++
			}
		}
	}
	if len(listed) > 0 {
		for word := range strings.FieldsFuncSeq(command, isSeparator) {
			listed[cleanWord(repo, word)]--
		}
		c.words = slices.DeleteFunc(c.words, func(word string) bool { n, isListed := listed[word]; return isListed && n == 0 })
	}
	return c
}

// expands reports whether a command may have words that it doesn't show: of variables, of other
// commands, of alternatives in braces or of escapes.
func expands(command string) bool {
	for i, c := range []byte(command) {
		if alternatives, _, found := strings.Cut(command[i+1:], "}"); c == '{' && found &&
			!strings.ContainsAny(alternatives, " \t\n;'\"") && (strings.Contains(alternatives, ",") || strings.Contains(alternatives, "..")) {
			return true
		}
		next := byte(0)
		if i+1 < len(command) {
			next = command[i+1]
		}
		isName := next == '\'' || next == '{' || next == '(' || next == '@' || next == '*' || next == '_' || next|0x20 >= 'a' && next|0x20 <= 'z'
		if c == '`' || c == '$' && isName {
			return true
		}
	}
	return false
}

// onlyReads reports whether a program changes none of the files that its arguments name.
func onlyReads(words []string) bool {
	switch words[0] {
	case "ls", "cat", "head", "tail", "less", "more", "nl", "wc", "grep", "egrep", "rg", "cut", "tr", "diff", "cmp", "stat", "file", "test", "[", "jq":
		return true
	case "sed":
		writes := func(word string) bool {
			return strings.HasPrefix(word, "-") && strings.Contains(word, "i") || strings.Contains(word, "w ")
		}
		return slices.Contains(words, "-n") && !slices.ContainsFunc(words, writes)
	case "git":
		return len(words) > 1 && slices.Contains([]string{"status", "diff", "log", "show", "blame", "grep", "ls-files", "cat-file"}, words[1])
	}
	return false
}

// changesOnlyNamed reports whether a program changes no files but those that its arguments or its
// redirections name.
func changesOnlyNamed(words []string) bool {
	switch words[0] {
	case "find", "fd":
		return !slices.ContainsFunc(words, func(word string) bool {
			return strings.HasPrefix(word, "-exec") || word == "-delete" || word == "-x" || word == "-X"
		})
	case "cp", "mv", "ln": // the name of a file may be that of its source
		return !slices.ContainsFunc(words, func(word string) bool { return strings.HasSuffix(word, ".") || strings.Contains(word, "*") })
	case "cat", "echo", "printf", "tee", "sed", "awk", "rm", "mkdir", "rmdir", "touch", "chmod",
		"ls", "head", "tail", "grep", "rg", "wc", "sort", "uniq", "cut", "tr", "nl", "diff", "cmp", "stat", "file",
		"test", "[", "true", "false", "cd", "pwd", "sleep", "which", "type", "date", "basename", "dirname", "jq", "{", "}", "(", ")":
		return true
	case "git": // what the hooks of a commit write to other files isn't known to be the agent's
		return len(words) > 1 && slices.Contains([]string{
			"status", "diff", "log", "show", "add", "commit", "fetch", "push", "remote", "config", "rev-parse", "rev-list",
			"merge-base", "ls-files", "ls-tree", "grep", "blame", "cat-file", "describe", "tag", "branch", "mv", "rm",
		}, words[1])
	}
	return false
}
