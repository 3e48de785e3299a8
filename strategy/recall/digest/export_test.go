package digest

import (
	"github.com/seed-3aff656d/entire/internal/plain"
)

func Enough(prompt string) bool    { return enough(prompt) }
func Decides(sentence string) bool { return decides(sentence) }
func BareSummary(s string) string  { return bareSummary(s) }
func LastQuestion(s string) string { return lastQuestion(s) }
func Announced(s string) []string  { return announced(s) }
func PlanOf(s string, redact plain.Redactor) (string, []string) {
	p := planOf(s, redact)
	return p.Title, p.Steps
}
