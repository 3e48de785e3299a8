package git

import (
	"regexp"
)

// HideURL takes user names and passwords out of the URLs in a text.
func HideURL(text string) string {
	return regexp.MustCompile(`://[^/\s]*@`).ReplaceAllString(text, "://")
}
