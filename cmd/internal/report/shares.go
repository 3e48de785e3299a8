package report

import (
	"cmp"
	"path"
	"slices"
)

// pathShare is the share of a file, or of all files below a directory.
type pathShare struct {
	path  string
	share Share
	files int // number of files below a directory
	isDir bool
}

// paths returns the shares of all files and directories, over all commits, with each
// directory before its contents. It omits a directory if another one below it, or a file,
// has all of it.
func (r *Report) paths() []pathShare {
	files, dirs := map[string]Share{}, map[string]*pathShare{}
	for i := range r.Commits {
		for _, f := range r.Commits[i].Files {
			if f.Share.Total() > 0 {
				files[f.Path] = files[f.Path].Plus(f.Share)
			}
		}
	}
	for name, share := range files {
		for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
			if dirs[dir] == nil {
				dirs[dir] = &pathShare{path: dir + "/", isDir: true}
			}
			dirs[dir].share = dirs[dir].share.Plus(share)
			dirs[dir].files++
		}
	}
	list := make([]pathShare, 0, len(files)+len(dirs))
	for name, share := range files {
		list = append(list, pathShare{path: name, share: share})
	}
	whole := map[string]bool{} // directories whose files are all in one subdirectory
	for name, dir := range dirs {
		if parent := path.Dir(name); dirs[parent] != nil && dirs[parent].files == dir.files {
			whole[parent] = true
		}
	}
	for name, dir := range dirs {
		if dir.files > 1 && !whole[name] {
			list = append(list, *dir)
		}
	}
	slices.SortFunc(list, func(a, b pathShare) int { return cmp.Compare(a.path, b.path) })
	return list
}

// shares writes the tables of shares by directory and file and by commit.
func (d *document) shares() {
	d.raw("<section id=\"shares\" tabindex=\"-1\" aria-labelledby=\"shares-title\">\n<h2 id=\"shares-title\">Who wrote what</h2>\n")
	if d.totals.share.Total() == 0 {
		d.raw("<p>No commit adds lines.</p>\n</section>\n")
		return
	}
	d.raw("<p class=\"note\">Lines that the commits add, by their writers. Lines count as an agent's only where the record of the checkpoint, or an edit in its transcript, has them.</p>\n")
	d.raw("<details class=\"fold\" open><summary><h3>By directory and file</h3></summary>\n")
	list := d.r.paths()
	d.beginTable("Added lines by directory and file", "Path")
	shown := list[:min(len(list), d.limits.rows)]
	for _, p := range shown {
		d.raw("<tr><th scope=\"row\" class=\"path\"><code>")
		if p.isDir {
			d.element("<b>", p.path, "</b>")
		} else {
			d.text(p.path)
		}
		d.raw("</code></th>")
		d.shareCells(p.share)
	}
	d.raw("</tbody></table></div>\n")
	d.moreRows(len(list)-len(shown), "path")
	d.raw("</details>\n<details class=\"fold\"><summary><h3>By commit</h3></summary>\n")
	d.beginTable("Added lines by commit", "Commit")
	rows := 0
	left := 0
	for i := range slices.Backward(d.r.Commits) {
		c := &d.r.Commits[i]
		if c.Share().Total() == 0 {
			continue
		}
		if rows++; rows > d.limits.rows {
			left++
			continue
		}
		d.raw("<tr><th scope=\"row\"><a")
		d.href(commitID(c))
		d.element("><code>", shortOID(c.OID), "</code> ")
		d.element("", c.Subject, "</a></th>")
		d.shareCells(c.Share())
	}
	d.raw("</tbody></table></div>\n")
	d.moreRows(left, "commit")
	d.raw("</details>\n</section>\n")
}

func (p *page) moreRows(n int, noun string) {
	if n > 0 {
		p.element("<p class=\"cut\">", plural(n, noun)+" more; the time line has all.", "</p>\n")
	}
}

func (p *page) beginTable(caption, first markup) {
	p.raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"")
	p.raw(caption)
	p.raw("\"><table class=\"shares\"><caption>")
	p.raw(caption)
	p.raw("</caption><thead><tr><th scope=\"col\">")
	p.raw(first)
	p.raw("</th><th scope=\"col\" class=\"n\">Lines</th><th scope=\"col\" class=\"n\">Agent</th><th scope=\"col\" class=\"n\">Person</th><th scope=\"col\" class=\"n\">Not recorded</th><th scope=\"col\"><span class=\"hidden\">Shares</span></th></tr></thead><tbody>\n")
}

// shareCells writes the figures and bars of a row of a table of shares, and ends the row.
func (p *page) shareCells(s Share) {
	total := s.Total()
	p.element("<td class=\"n\">", count(int64(total)), "</td>")
	for _, text := range []string{agentShare(s), percent(s.Person, total), percent(s.Unknown, total)} {
		p.element("<td class=\"n\">", text, "</td>")
	}
	p.raw("<td>")
	const width = 100
	p.raw("<svg class=\"bar\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\" focusable=\"false\">")
	at := 0.0
	for i, n := range []int{s.Agent, s.Person, s.Unknown} {
		w := float64(n) * width / float64(max(total, 1))
		if n > 0 {
			p.rect([...]markup{"agent", "person", "unknown"}[i], at, 0, w, 8) //nolint:mnd // its height
		}
		at += w
	}
	p.raw("</svg>")
	p.raw("</td></tr>\n")
}
