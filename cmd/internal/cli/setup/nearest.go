package setup

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Nearest returns the name of which word is a beginning or a misspelling, "" if there is none. For a
// word of at most three letters two typos are too many, unless its letters are those of the name; and
// of two words one may begin with the other: login is not log.
func Nearest(names []string, word string) string {
	const short, mostTypos = 3, 2
	all := &cobra.Command{} // cobra compares names of commands
	for _, name := range names {
		all.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	for typos := 1; typos <= mostTypos; typos++ {
		all.SuggestionsMinimumDistance = typos
		for _, name := range all.SuggestionsFor(word) {
			if typos == 1 || (len(word) > short || sorted(word) == sorted(name)) && !strings.HasPrefix(word, name) {
				return name
			}
		}
	}
	return ""
}

// sorted returns the letters of a word in the order of their codes.
func sorted(word string) string {
	letters := []byte(strings.ToLower(word))
	slices.Sort(letters)
	return string(letters)
}
