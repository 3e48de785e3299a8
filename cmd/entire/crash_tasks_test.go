package main

// taskScenes returns the scenes of the hooks of subagents.
func taskScenes() []scene {
	stop := func(p *play) { p.main().Stop() }
	begin := func(p *play) { p.turn("main", "a.txt"); p.main().Prompt("Please let somebody write b.txt.") }
	return []scene{
		{
			name: "a subagent begins", hooks: []string{"pre-task"},
			prepare: begin,
			act:     func(p *play) { p.main().Subagent("s", "Write b.txt", "") },
			then:    func(p *play) { p.writes("main", "b.txt"); stop(p) },
		},
		{
			name: "a subagent's step", hooks: []string{"post-todo"},
			prepare: begin,
			act: func(p *play) {
				agent := p.main().Subagent("s", "Write b.txt", "")
				agent.Session.Write("b.txt", "by main: b.txt\n")
				p.changes("main", "b.txt")
				agent.Todo("b.txt*")
			},
			then: stop,
		},
		{
			name: "a subagent's end", hooks: []string{"subagent-stop"},
			prepare: begin,
			act:     func(p *play) { p.delegate("s", "b.txt") },
			then:    stop,
		},
		{
			name: "a subagent's call ends", hooks: []string{"post-task"},
			prepare: begin,
			act:     func(p *play) { p.delegate("s", "b.txt") },
			then:    stop,
		},
		{
			name: "a subagent that only reads", hooks: []string{"subagent-stop", "post-task", "stop"},
			prepare: begin,
			act:     func(p *play) { p.delegate("s", ""); stop(p) },
		},
		{
			name: "a commit with the work of subagents", hooks: commitHooks(),
			prepare: func(p *play) {
				begin(p)
				p.delegate("s", "b.txt")
				p.delegate("t", "")
				stop(p)
				p.git("add", "a.txt", "b.txt")
			},
			act: func(p *play) { p.commits("-m", "theirs") },
		},
		{
			name: "a subagent told of in the background", hooks: []string{"stop"},
			prepare: func(p *play) {
				begin(p)
				agent := p.main().Subagent("s", "Write b.txt", "background")
				p.main().Background = []string{agent.ID}
				stop(p)
				agent.Session.Write("b.txt", "by main: b.txt\n")
				p.changes("main", "b.txt")
				p.main().Background = nil
				p.main().Notify(agent.Notification())
			},
			act: stop,
		},
	}
}

// delegate plays a whole subagent, which writes a file if file isn't empty.
func (p *play) delegate(name, file string) {
	agent := p.main().Subagent(name, "Look at "+name, "")
	if file != "" {
		agent.Session.Write(file, "by main: "+file+"\n")
		p.changes("main", file)
	}
	agent.Stop()
	agent.Done()
}
