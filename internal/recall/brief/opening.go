package brief

import "slices"

// opening returns a brief within MaxOpeningTokens.
func opening(m Material) Brief {
	b := Brief{Message: "Resumed from checkpoint: " + saved(m)}
	more := "More: `entire recall resume " + shownID(m) + "`, or the tool checkpoint_resume.\n"
	text := b.Message + "\n" + recorded(m) + "\n\n"
	m.Kind = Short
	files := views(m)
	room := size{units: MaxUnits, cost: tokens(MaxOpeningTokens) - unit}.minus(sizeOf(text + more))
	text += trimmed(slices.Concat(digest(m)[:1], []section{fileRows(files)}), room) + more
	b.Parts = []string{text}
	for _, v := range files {
		b.Named = append(b.Named, v.path)
	}
	return b
}

// fileRows returns the names of files, several on a line.
func fileRows(files []view) section {
	names := make([]string, 0, len(files))
	for _, v := range files {
		names = append(names, v.path)
	}
	return rows("**Files**:\n", names)
}
