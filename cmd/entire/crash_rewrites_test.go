package main

// rewriteScenes returns the scenes of commits that replace others.
func rewriteScenes() []scene {
	return []scene{
		{
			name: "amend with another session's file", hooks: []string{"prepare-commit-msg", "post-commit", "post-rewrite"}, places: true,
			prepare: func(p *play) {
				p.turn("main", "a.txt")
				p.git("add", "a.txt")
				p.commits("-m", "a")
				p.turn("other", "o.txt", "q.txt")
				p.git("add", "o.txt")
			},
			act: func(p *play) { p.commits("--amend", "--no-edit") },
		},
		{
			name: "taken back and made again", hooks: []string{"prepare-commit-msg", "post-commit"},
			prepare: func(p *play) {
				p.turn("main", "a.txt", "b.txt")
				p.git("add", "a.txt")
				p.commits("-m", "a")
				p.git("reset", "-q", "--soft", "HEAD^")
			},
			act: func(p *play) { p.commits("-m", "a again") },
		},
		{
			name: "two folded into one", hooks: []string{"prepare-commit-msg", "post-commit", "post-rewrite"},
			prepare: func(p *play) {
				p.turn("main", "a.txt", "b.txt", "c.txt")
				for _, path := range []string{"a.txt", "b.txt"} {
					p.git("add", path)
					p.commits("-m", path)
				}
			},
			act: func(p *play) {
				p.Env = p.Env.With("GIT_SEQUENCE_EDITOR=sed -i -e 2s/pick/fixup/")
				p.git("rebase", "-q", "-i", "HEAD~2")
			},
		},
	}
}
