package recall

// Doors for the tests of this package.
type ShellLine = shellLine

func SplitShell(text string) ShellLine { return splitShell(text) }

// Words are the words of each command.
func (line shellLine) Words() [][]string {
	var all [][]string
	for _, c := range line.commands {
		all = append(all, c.words)
	}
	return all
}

// Sorts are the names of what the line checks.
func (line shellLine) Sorts() []string {
	var names []string
	for i, name := range []string{"tests", "builds", "lints", "commits", "pushes"} {
		if checksOf(line)&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

func (line shellLine) Trivial() bool                 { return line.trivial() }
func (line shellLine) Masked() bool                  { return line.masked }
func (line shellLine) Mentions(cwd string) []string  { return mentioned(line, cwd) }
func (line shellLine) Outcome(output string) Outcome { return judged(judgeOf(line), output) }
func Shortened(s string, limit int) string           { return shortened(s, limit) }
func Weight(s string) int                            { return weight(s) }
func Tidy(s string) string                           { return tidy(s) }
func Enough(prompt string) bool                      { return enough(prompt) }
func Decides(sentence string) bool                   { return decides(sentence) }
func BareSummary(s string) string                    { return bareSummary(s) }
func LastQuestion(s string) string                   { return lastQuestion(s) }
func Announced(s string) []string                    { return announced(s) }
func PlanOf(s string, redact Texts) (string, []string) {
	p := planOf(s, redact)
	return p.Title, p.Steps
}

func judged(by judge, output string) Outcome {
	if by == byStatus {
		return Passed
	}
	return outcomeOf(by, output)
}
