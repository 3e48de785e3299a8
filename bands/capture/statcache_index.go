package capture

// statIndex finds the lines of a block by their numbers and names.
type statIndex struct {
	Block  string
	Starts []uint32
	Seen   []bool
	next   int32 // the line after the last found one
	byName map[string]int32
}

// index returns the index of a directory's lines; false if the block is damaged.
func (d StatDirectory) index() (statIndex, bool) {
	x := statIndex{Block: d.Block, Starts: make([]uint32, 0, d.Count()), Seen: make([]bool, d.Count())}
	var e StatLine
	lines := d.Lines()
	for at := len(d.Block) - len(lines.rest); lines.Next(&e); at = len(d.Block) - len(lines.rest) {
		x.Starts = append(x.Starts, uint32(at))
	}
	return x, !lines.Bad
}

// Text returns a line as it is in the block.
func (x *statIndex) Text(line int32) string {
	if int(line)+1 < len(x.Starts) {
		return x.Block[x.Starts[line]:x.Starts[line+1]]
	}
	rest := x.Block[x.Starts[line]:]
	return rest[:statLineLength+(int(rest[0])|int(rest[1])<<8)]
}

// Name returns the name of an entry by its number.
func (x *statIndex) Name(line int32) string { return x.Text(line)[statLineLength:] }

// Line returns an entry by its number.
func (x *statIndex) Line(line int32) (e StatLine) {
	lines := StatLines{rest: x.Text(line), left: 1}
	lines.Next(&e)
	return e
}

// Find is Lookup for names that mostly come in the order of the lines.
func (x *statIndex) Find(name string) (int32, bool) {
	const ahead = 4 // some names may have been removed
	for line := x.next; int(line) < len(x.Starts) && line < x.next+ahead; line++ {
		if x.Name(line) == name {
			x.next = line + 1
			return line, true
		}
	}
	line, ok := x.Lookup(name)
	if ok {
		x.next = line + 1
	}
	return line, ok
}

// Lookup returns the number of the line with the name.
func (x *statIndex) Lookup(name string) (int32, bool) {
	if x.byName == nil {
		x.byName = make(map[string]int32, len(x.Starts))
		for i := range x.Starts {
			x.byName[x.Name(int32(i))] = int32(i)
		}
	}
	line, ok := x.byName[name]
	return line, ok
}
