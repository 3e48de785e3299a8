package browse

import "strings"

// list holds the items as rows, one of which is under the cursor.
type list struct {
	items  []Item
	words  map[string]string // by item: further words for the filter, in lower case
	filter string
	open   map[string]bool // open folds
	rows   []row
	at     int // the row under the cursor, -1 if there is none
}

// row is a line of the list: a heading, an item, or a fold.
type row struct {
	text  string
	depth int
	item  int    // -1: none
	fold  string // the name of a fold
}

func (r row) selectable() bool { return r.item >= 0 || r.fold != "" }

// set replaces the items, and keeps the cursor on its item.
func (l *list) set(items []Item) {
	id := l.id()
	l.items = items
	l.arrange()
	l.goTo(func(r row) bool { return r.item >= 0 && l.items[r.item].ID == id })
}

// narrow shows the items that match a text, and keeps the cursor on its item if it matches.
func (l *list) narrow(filter string) {
	id := l.id()
	l.filter = strings.ToLower(filter)
	l.arrange()
	l.goTo(func(r row) bool { return r.item >= 0 && l.items[r.item].ID == id })
}

// toggle opens or closes the fold under the cursor.
func (l *list) toggle() {
	fold := l.rows[l.at].fold
	l.open[fold] = !l.open[fold]
	l.arrange()
	l.goTo(func(r row) bool { return r.fold == fold })
}

// goTo moves the cursor to the first wanted row, or to the first item if there is none.
func (l *list) goTo(wanted func(row) bool) {
	l.at = -1
	for i, r := range l.rows {
		if r.selectable() && (l.at < 0 || wanted(r)) {
			l.at = i
			if wanted(r) {
				return
			}
		}
	}
}

// id returns the id of the item under the cursor, "" if there is none.
func (l *list) id() string {
	if l.at < 0 || l.at >= len(l.rows) || l.rows[l.at].item < 0 {
		return ""
	}
	return l.items[l.rows[l.at].item].ID
}

// choices returns the choices of the item under the cursor.
func (l *list) choices() []Choice {
	if l.id() == "" {
		return nil
	}
	return l.items[l.rows[l.at].item].Choices
}

// withoutWords returns the ids of the items whose further words are unknown.
func (l *list) withoutWords() []string {
	var ids []string
	for _, item := range l.items {
		if _, known := l.words[item.ID]; !known {
			ids = append(ids, item.ID)
		}
	}
	return ids
}

// onFold reports whether a fold is under the cursor.
func (l *list) onFold() bool { return l.at >= 0 && l.rows[l.at].fold != "" }

// move moves the cursor by n items, and reports whether it is at the last one then.
func (l *list) move(n int) (atEnd bool) {
	step := 1
	if n < 0 {
		step, n = -1, -n
	}
	for i := l.at + step; n > 0 && i >= 0 && i < len(l.rows); i += step {
		if l.rows[i].selectable() {
			l.at = i
			n--
		}
	}
	for i := l.at + 1; i < len(l.rows); i++ {
		if l.rows[i].selectable() {
			return false
		}
	}
	return true
}

// arrange builds the rows.
func (l *list) arrange() {
	l.rows = l.rows[:0]
	var last []string
	var folds []string
	folded := map[string][]int{}
	for i, item := range l.items {
		switch {
		case !l.matches(item):
		case item.Fold != "":
			if folded[item.Fold] == nil {
				folds = append(folds, item.Fold)
			}
			folded[item.Fold] = append(folded[item.Fold], i)
		default:
			// Add the headings that differ from the last ones.
			same := 0
			for same < len(item.Headings) && same < len(last) && item.Headings[same] == last[same] {
				same++
			}
			for depth := same; depth < len(item.Headings); depth++ {
				l.rows = append(l.rows, row{text: item.Headings[depth], depth: depth, item: -1})
			}
			last = item.Headings
			l.rows = append(l.rows, row{text: item.Label, depth: len(item.Headings), item: i})
		}
	}
	for _, fold := range folds {
		isOpen, mark := l.open[fold] || l.filter != "", "+ "
		if isOpen {
			mark = "- "
		}
		l.rows = append(l.rows, row{text: mark + fold, item: -1, fold: fold})
		for _, i := range folded[fold] {
			if isOpen {
				l.rows = append(l.rows, row{text: l.items[i].Label, depth: 1, item: i})
			}
		}
	}
}

// matches reports whether an item has all words of the filter.
func (l *list) matches(item Item) bool {
	if l.filter == "" {
		return true
	}
	text := strings.ToLower(strings.Join(append(append([]string{item.Label}, item.Headings...), item.Words...), "\n")) + "\n" + l.words[item.ID]
	for word := range strings.FieldsSeq(l.filter) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// count returns the number of matching items.
func (l *list) count() int {
	n := 0
	for _, item := range l.items {
		if l.matches(item) {
			n++
		}
	}
	return n
}
