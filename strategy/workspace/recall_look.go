package workspace

import (
	"slices"
)

// AppendRecent adds to a short list of the last of something.
func AppendRecent(list []string, last string) []string {
	const most = 20
	list = append(slices.DeleteFunc(slices.Clone(list), func(o string) bool { return o == last }), last)
	return list[max(0, len(list)-most):]
}
