package transcript

import (
	"slices"
	"strings"
)

// request returns a person's request in a message, "" if there is none: prompts, as in [Prompt], a
// plan that was accepted for a new session, commands that are prompts, with their arguments, and, after
// [ShellPrefix], commands that the person ran in the client's shell.
func request(m *message, from source) string {
	return m.joined(func(s string) string {
		said := human(s, from)
		s = strings.TrimSpace(strip(s, isAside))
		switch {
		case said != "":
			return said
		case strings.HasPrefix(s, PlanPrefix):
			return s
		case strings.HasPrefix(s, "<bash-input>"): // run by the person in the client's shell
			return ShellPrefix + strings.TrimSpace(elementText(s, "bash-input"))
		default:
			return commandRequest(s)
		}
	})
}

// commandRequest returns a command and its arguments from the trace of a command, "" if the text is
// not a trace, or if the command only concerns the client.
func commandRequest(s string) string {
	if !strings.HasPrefix(s, "<command-") {
		return ""
	}
	name, args := strings.TrimSpace(elementText(s, "command-name")), strings.TrimSpace(elementText(s, "command-args"))
	if name == "" || slices.Contains(clientCommands(), strings.TrimPrefix(name, "/")) {
		return ""
	}
	if strings.TrimPrefix(name, "/") == "plan" && args == "" { // a mode of the client
		return ""
	}
	if name[0] != '/' {
		name = "/" + name
	}
	return strings.TrimSpace(name + " " + args)
}

// IsClientCommand reports whether a text, as typed, is a command of Claude Code that only concerns
// the client, such as "/model opus".
func IsClientCommand(text string) bool {
	name, isCommand := strings.CutPrefix(strings.TrimSpace(text), "/")
	name, _, _ = strings.Cut(name, " ")
	return isCommand && slices.Contains(clientCommands(), name)
}

// clientCommands returns the commands of Claude Code that change or show the client's state and
// request nothing of the agent.
func clientCommands() []string {
	return []string{
		"add-dir", "agents", "bashes", "bug", "clear", "color", "compact", "config", "context", "copy", "cost", "desktop", "diff", "doctor",
		"effort", "exit", "export", "extra-usage", "fast", "feedback", "help", "hooks", "ide", "keybindings", "login", "logout", "mcp", "memory",
		"mobile", "model", "output-style", "permissions", "plugin", "plugins", "privacy-settings", "quit", "release-notes", "reload-plugins",
		"remote-control", "rename", "resume", "rewind", "sandbox", "skills", "stats", "status", "statusline", "stickers", "tasks",
		"terminal-setup", "theme", "todos", "upgrade", "usage", "vim", "voice",
	}
}

// elementText returns the content of the first element with the tag.
func elementText(s, tag string) string {
	_, rest, found := strings.Cut(s, "<"+tag+">")
	inner, _, closed := strings.Cut(rest, "</"+tag+">")
	if !found || !closed {
		return ""
	}
	return inner
}

// reply returns a person's answer in the result of a tool: the answers to the agent's questions, or
// the reason why a use was refused; "" if there is none.
func reply(b *block) string {
	var m message
	m.content(&scanner{b: b.result})
	for i := range m.blocks {
		s := Unquoted(m.blocks[i].text)
		if answers, ok := strings.CutPrefix(s, "User has answered your questions: "); ok {
			answers, _, _ = strings.Cut(answers, ". You can now continue")
			return answers
		}
		_, reason, ok := strings.Cut(s, "To tell you how to proceed, the user said:\n")
		if ok && b.failed && !strings.HasPrefix(reason, "The user wants to clarify these questions") {
			return strings.TrimSpace(reason)
		}
	}
	return ""
}
