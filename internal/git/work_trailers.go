package git

import (
	"bytes"
	"context"
	"slices"
)

// AddTrailers adds trailers ("Key: value") to the end of the message's trailer block by git's own
// rules, unless they are present already. Lines that begin with the comment character stay below
// them. An empty message gets room for a subject above them.
func AddTrailers(ctx context.Context, r *Repo, message []byte, trailers []string) ([]byte, error) {
	args := make([]string, 0, 10+2*len(trailers))
	args = append(args,
		"-c", "trailer.separators=:", "interpret-trailers", "--no-divider",
		"--where", "end", "--if-exists", "addIfDifferent", "--if-missing", "add")
	for _, t := range trailers {
		args = append(args, "--trailer", t)
	}
	if len(message) > 0 && message[len(message)-1] != '\n' {
		message = append(bytes.Clone(message), '\n') // else git may join the subject and the block
	}
	out, err := r.Do(ctx, Command{Args: args, Stdin: bytes.NewReader(message)})
	if err != nil {
		return nil, err
	}
	// If only empty lines are above the trailers, they become two: the subject goes on the first
	// one.
	rest := bytes.TrimLeft(out, "\n")
	first := func(t string) bool { return bytes.HasPrefix(rest, []byte(t+"\n")) }
	if len(out)-len(rest) >= 2 || !slices.ContainsFunc(trailers, first) {
		return out, nil
	}
	return append([]byte("\n\n"), rest...), nil
}
