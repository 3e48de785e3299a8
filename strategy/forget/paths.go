package forget

// outOfReach names what is not searched for a file: it is taken out of snapshots
// only.
func (f *Forgetting) outOfReach() []Place {
	if f.what.File == "" {
		return nil
	}
	return []Place{
		{
			Kind: Unknown, Name: "checkpoints, transcripts, logs", Stays: true,
			What: "--file takes a file out of snapshots only; what a conversation quotes is forgotten with --text",
		},
		{
			Kind: Unknown, Name: "shadow branches, saved contexts", Stays: true,
			What: "they keep copies of the file; --session and --before remove them",
		},
		{Kind: Unknown, Name: "your commits, index and files", Stays: true, What: "they are your own"},
	}
}
