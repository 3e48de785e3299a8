package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/plain"
)

// Commit is a commit without the headers that the program doesn't need (signature, encoding).
type Commit struct {
	OID, Tree OID
	Parents   []OID
	Author    Signature
	Committer Signature
	Message   string
	// Note is the text stored for the commit: see Notes.Of.
	Note string
}

// Subject returns the first line of the message.
func (c Commit) Subject() string { return plain.FirstLine(c.Message) }

// FirstParent returns the first parent, empty for a root commit.
func (c Commit) FirstParent() OID {
	if len(c.Parents) == 0 {
		return ""
	}
	return c.Parents[0]
}

// Signature names an author or committer, with a time. Name and Email may be empty.
type Signature struct {
	Name, Email string
	When        time.Time
}

// Commit returns the commit that spec names, peeling tags.
func (r *Repo) Commit(ctx context.Context, spec string) (Commit, error) {
	object, err := r.Read(ctx, spec+"^{commit}")
	if err != nil {
		return Commit{}, err
	}
	c, err := ParseCommit(object)
	if err == nil {
		c.Note, err = r.Notes.Of(ctx, c.OID)
	}
	return c, err
}

// ParseCommit decodes a commit object, without its note.
func ParseCommit(object Object) (Commit, error) {
	c := Commit{OID: object.OID}
	head, message, _ := bytes.Cut(object.Data, []byte("\n\n"))
	c.Message = string(message)
	for line := range strings.SplitSeq(string(head), "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "tree":
			c.Tree = OID(value)
		case "parent":
			c.Parents = append(c.Parents, OID(value))
		case "author":
			c.Author = ParseSignature(value)
		case "committer":
			c.Committer = ParseSignature(value)
		}
	}
	if c.Tree == "" || object.Type != "commit" {
		return Commit{}, fmt.Errorf("%s %s is no commit", object.Type, object.OID)
	}
	return c, nil
}

// ParseSignature parses as much of s as it can: old commits have malformed signatures.
func ParseSignature(s string) Signature {
	left, date := s, ""
	if i := strings.LastIndexByte(s, '>'); i >= 0 {
		left, date = s[:i], s[i+1:]
	}
	name, email, _ := strings.Cut(left, "<")
	sig := Signature{Name: strings.Trim(name, " "), Email: email}
	fields := strings.Fields(date)
	if len(fields) == 0 {
		return sig
	}
	seconds, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return sig
	}
	zone := time.UTC
	if len(fields) > 1 {
		n, err := strconv.Atoi(fields[1])
		if err == nil && n >= -2359 && n <= 2359 && n%100 <= 59 && n%100 >= -59 && n != 0 {
			zone = time.FixedZone("", (n/100*60+n%100)*60)
		}
	}
	sig.When = time.Unix(seconds, 0).In(zone)
	return sig
}

// String returns the signature in the form of a commit header: "Name <email> unix +zzzz".
func (s Signature) String() string {
	_, offset := s.When.Zone()
	sign := '+'
	if offset < 0 {
		sign, offset = '-', -offset
	}
	unix := max(0, s.When.Unix())
	return fmt.Sprintf("%s <%s> %d %c%02d%02d", tidy(s.Name), tidy(s.Email), unix, sign, offset/3600, offset/60%60)
}

// tidy drops characters that would break the line, as git does.
func tidy(s string) string {
	clean := strings.Map(func(c rune) rune {
		if c == '<' || c == '>' || c == '\n' || c == 0 {
			return -1
		}
		return c
	}, s)
	return strings.TrimFunc(clean, func(c rune) bool { return c <= ' ' || strings.ContainsRune(`.,:;"\'`, c) })
}

// WriteCommit stores a commit and ignores c.OID. NUL bytes of the message are dropped, as git ends
// a message there.
func (r *Repo) WriteCommit(c Commit) (OID, error) {
	if c.Tree == r.Format.EmptyTree() {
		if _, err := r.Loose.write("tree", nil); err != nil {
			return "", err
		}
	}
	var b bytes.Buffer
	for _, oid := range append([]OID{c.Tree}, c.Parents...) {
		if !r.Format.Valid(oid) {
			return "", fmt.Errorf("write commit: %q is no object id", oid)
		}
	}
	fmt.Fprintf(&b, "tree %s\n", c.Tree)
	for _, parent := range c.Parents {
		fmt.Fprintf(&b, "parent %s\n", parent)
	}
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n", c.Author, c.Committer)
	b.WriteString(strings.ReplaceAll(c.Message, "\x00", ""))
	oid, err := r.Loose.write("commit", b.Bytes())
	return oid, errors.Join(err, r.Loose.pending.publishCommit())
}

// WriteBlob stores data unchanged, without filters.
func (r *Repo) WriteBlob(data []byte) (OID, error) { return r.Loose.write("blob", data) }

// Batch bounds the objects that wait for their names in WriteTogether.
type Batch int

const (
	// SmallBatch is 256 objects or 8 MiB, for hooks.
	SmallBatch Batch = iota + 1
	// LargeBatch is 32,768 objects or 24 MiB, compressed, which are kept in memory until they have their
	// names. Many of them are written as a pack: for commands.
	LargeBatch
)

// WriteTogether runs do. Unlike elsewhere, a commit written by do does not name the pending
// objects: they are named by SyncObjects, before another process may read them, or when a batch is
// full.
func (r *Repo) WriteTogether(b Batch, do func() error) error {
	r.Loose.pending.setBatch(b)
	defer r.Loose.pending.setBatch(0)
	return do()
}

// NameObjects names the pending objects, so that other processes find them. A power failure may
// lose the names until SyncObjects returns.
func (r *Repo) NameObjects() error { return r.Loose.pending.publish() }

// SyncObjects waits until all written objects are on the disk. Refs and files written after it may
// refer to them.
func (r *Repo) SyncObjects() error {
	return r.Loose.pending.sync()
}

// RemoveLoose deletes the files of those objects that are loose. Nothing may refer to them.
func (r *Repo) RemoveLoose(oids []OID) error {
	for _, oid := range oids {
		if !r.Format.Valid(oid) {
			return fmt.Errorf("remove object: %q is no object id", oid)
		}
		if r.Loose.Has(oid) {
			if err := disk.Remove(loosePath(r.Loose.dir, oid)); err != nil {
				return fmt.Errorf("remove object %s: %w", oid, err)
			}
		}
		r.trees.remove(oid)
	}
	return nil
}

// ResolveRef reads the OID of HEAD, a branch, a remote-tracking ref or one of the program's refs
// without a git process. The error is ErrMissing if the ref, or a target of it, doesn't exist, and
// another one if only git can resolve it.
func (r *Repo) ResolveRef(name string) (OID, error) { return r.refs.resolve(name) }
