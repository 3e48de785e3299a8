package sharing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

const (
	// pushAttempts bounds the attempts of a push while other clones push, too.
	pushAttempts = 4
	// patience is the duration of a push after which the user is notified.
	patience = time.Second
)

// PrePush sends the checkpoints to the remote named in the user's settings, or proposed by the
// project's if the user has allowed sending there, and to no other, whichever remote git is pushing
// to. It does nothing if that one has them already, for a dry run (--dry-run), and if git's command line,
// which shows that, can't be read. If nothing may be sent it prints why, once in a clone, provided that
// others share their checkpoints or the settings name a remote. If the remote has checkpoints of other clones, both sides get the union.
//
// An error means that they were not sent; it is one line, fit for the user. ctx bounds the
// total time.
func PrePush(ctx context.Context, w *workspace.Workspace) error {
	verb, args := record.GitCommand(ctx, w) // git doesn't pass its command line to the pre-push hook
	call, known := readPush(args), verb == "push"
	if !known {
		w.Log.InfoContext(ctx, "checkpoints not sent: can't read the command line of git push")
	}
	if !known || call.DryRun {
		return nil
	}
	to := Destination{Remote: w.Options.PushRemote, Allowed: true}
	if to.Remote == "" || w.Options.NeedsConsent {
		var err error
		to, err = FindDestination(ctx, w)
		switch {
		case err != nil:
			return err
		case !to.Allowed && call.Quiet:
			return nil
		case !to.Allowed:
			return reportUnsent(ctx, w, to)
		}
	}
	if to.IsProposed { // CheckRemote checks it as one
		asProject := *w
		asProject.Options.PushRemote, asProject.Options.OwnRemote = to.Remote, false
		w = &asProject
	}
	p := &push{w: w, remote: to.Remote, shown: git.HideURL(to.Remote), say: w.Env.Say}
	if call.Quiet {
		p.say = func(string) {}
	}
	return p.sendAll(ctx)
}

// Push sends the checkpoints and the links beside commits to a remote, given by name or URL, that the
// user asked to send them to. What the remote has is read from it, whatever is recorded of earlier
// pushes, and the time is limited by ctx alone. It prints a line about what was sent, or that there was
// nothing to send. Errors are those of PrePush.
func Push(ctx context.Context, w *workspace.Workspace, remote string) error {
	p := &push{w: w, remote: remote, shown: git.HideURL(remote), say: w.Env.Say, asked: true}
	if err := p.sendAll(ctx); err != nil || p.changed {
		return err
	}
	p.say("entire: all checkpoints of this clone are at " + p.shown)
	return nil
}

func (p *push) sendAll(ctx context.Context) error {
	switch err := p.run(ctx); {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("checkpoints not sent to %s: timed out", p.shown)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("checkpoints not sent to %s: interrupted", p.shown)
	default:
		return fmt.Errorf("checkpoints not sent to %s: %w", p.shown, err)
	}
}

// push is one run of PrePush.
type push struct {
	w      *workspace.Workspace
	remote string // name or URL
	shown  string // remote without credentials, for messages
	say    func(line string)
	refs   []sharedRef
	// asked reports that the user asked for the push: what the remote has is read from it.
	asked bool
	// changed reports that something was sent.
	changed bool
	// stale reports that the last fetch has shown a list of forgotten content that is unknown here.
	stale bool
}

// sharedRef is a ref that is sent, and the ref that records the remote's value of it.
type sharedRef struct{ name, record string }

// run sends the refs that the remote isn't known to have. It uses the network only if there
// are any.
func (p *push) run(ctx context.Context) error {
	place, err := git.FindPushDestination(ctx, p.w.Repo, p.remote)
	if err != nil {
		return err
	}
	if err := CheckRemote(p.w, place); err != nil {
		return err
	}
	record := sentRecord(place)
	p.refs = []sharedRef{{checkpoint.MetadataBranch, record}, {git.NotesRef, record + "-notes"}}
	if err := p.checkRemote(ctx, place); err != nil {
		return err
	}
	t, err := checkpoint.LoadTombstones(p.w.Repo.CommonDir)
	if err != nil {
		return err
	}
	if p.asked {
		if err := p.queueMissing(ctx); err != nil {
			return err
		}
	}
	refs, err := p.queued(ctx)
	if err != nil {
		return err
	}
	current := !p.stale && !t.Unswept && len(refs) == 0
	for _, ref := range p.refs {
		tip, err := p.missing(ctx, ref)
		if err != nil {
			return err
		}
		current = current && tip == ""
	}
	if current {
		return nil
	}
	timer := time.AfterFunc(patience, func() {
		defer func() {
			if e := recover(); e != nil {
				p.w.Log.ErrorContext(ctx, "panic", "value", e)
			}
		}()
		p.say("entire: sending checkpoints to " + p.shown)
	})
	defer timer.Stop()
	return exchange(ctx, p.w, func(searched bool) error {
		if p.stale || !searched {
			got, err := takeIn(ctx, p.w, p.remote, "")
			if got.report(p.shown, p.say); err != nil {
				return err
			}
		}
		if err := p.learn(ctx); err != nil {
			return err
		}
		for _, ref := range p.refs {
			if err := p.send(ctx, ref); err != nil {
				return err
			}
		}
		done, err := p.sendRefs(ctx)
		p.changed = p.changed || done.sent > 0
		done.report(p.shown, p.say)
		return err
	})
}

// sentRecord returns the ref that records what was last sent to a destination.
func sentRecord(place git.PushDestination) string {
	return checkpoint.PushedRefs + disk.Digest([]byte(place.URL))[:16]
}

// checkRemote reads what the last fetch has shown of the remote. If it has lost checkpoints that were sent
// to it, the record of that is dropped, so that they are sent again.
func (p *push) checkRemote(ctx context.Context, place git.PushDestination) error {
	if !place.Configured {
		return nil
	}
	sent, err := tipOf(ctx, p.w, p.refs[0].record)
	if err != nil {
		return err
	}
	shown, err := tipOf(ctx, p.w, trackingRef(p.remote))
	if err != nil || shown != "" && shown == sent {
		return err
	}
	if shown != "" {
		if p.stale, err = p.w.LacksTombstones(ctx, shown); err != nil || p.stale {
			return err
		}
	}
	lost, err := FindLost(ctx, p.w, p.remote, place)
	if err != nil || lost.How == NoLoss {
		return err
	}
	if lost.How == Deleted { // the ref may be missing for another reason
		at, err := git.RemoteRef(ctx, p.w.Repo, p.remote, checkpoint.MetadataBranch)
		if err != nil || at != "" {
			return err
		}
	}
	p.say("entire: " + lost.String() + ": sending it again")
	p.say("hint: `entire forget --checkpoint ID --push " + p.shown + "` removes one there for good")
	return git.UpdateRefs(ctx, p.w.Repo, "entire: remote set back", []git.RefChange{{Name: lost.record, Old: lost.sent}})
}

// missing returns the commit of a ref that the remote should have, empty if it is known to have it
// or if there is none.
func (p *push) missing(ctx context.Context, ref sharedRef) (git.OID, error) {
	tip, err := tipOf(ctx, p.w, ref.name)
	if err != nil || tip == "" {
		return "", err
	}
	sent, err := tipOf(ctx, p.w, ref.record)
	if sent == tip && !p.asked {
		return "", err
	}
	return tip, err
}

// send pushes a ref. If the remote has commits that are missing here, it fetches and merges
// them, and pushes again.
func (p *push) send(ctx context.Context, ref sharedRef) error {
	for attempt := 1; ; attempt++ {
		tip, err := p.missing(ctx, ref) // another push may have sent it while this waited
		if tip == "" || err != nil {
			return err
		}
		done, err := git.Push(ctx, p.w.Repo, p.remote, string(tip)+":"+ref.name)
		if err == nil {
			p.sent(ctx, ref, tip, done)
			return nil
		}
		if attempt == pushAttempts || !errors.Is(err, git.ErrRemoteDiverged) {
			return err
		}
		if err := p.fetch(ctx, ref); err != nil {
			return err
		}
	}
}

// fetch fetches and merges what the remote has. If that contains forgotten content, a push can't
// succeed: the remote's branch is replaced if its list names the content, else the user decides.
func (p *push) fetch(ctx context.Context, ref sharedRef) error {
	last, err := tipOf(ctx, p.w, p.refs[0].record)
	if err != nil {
		return err
	}
	t, err := checkpoint.LoadTombstones(p.w.Repo.CommonDir)
	if err != nil {
		return err
	}
	if len(t.Replaced) > 0 && last == "" { // nothing was sent since
		at, err := git.RemoteRef(ctx, p.w.Repo, p.remote, checkpoint.MetadataBranch)
		if err != nil {
			return err
		}
		if slices.Contains(t.Replaced, at) {
			return &RemoteHasForgottenError{Remote: p.shown}
		}
	}
	got, err := takeIn(ctx, p.w, p.remote, last)
	if err != nil || !got.masked || ref.name != checkpoint.MetadataBranch {
		if got.learned {
			got.report(p.shown, p.say)
		}
		return err
	}
	if !got.listed {
		return &RemoteHasForgottenError{Remote: p.shown}
	}
	tip, err := tipOf(ctx, p.w, ref.name)
	if err != nil {
		return err
	}
	err = git.ReplaceRemoteRef(ctx, p.w.Repo, p.remote, git.RefChange{Name: ref.name, New: tip, Old: got.tip})
	switch {
	case errors.Is(err, git.ErrRemoteDiverged):
		return nil // another clone was faster: try again
	case err != nil:
		return err
	}
	p.say("entire: " + p.shown + " had forgotten content again: removed there")
	p.sent(ctx, ref, tip, git.PushResult{Changed: true, From: string(got.tip)})
	return nil
}

// sent records and reports that a ref was sent.
func (p *push) sent(ctx context.Context, ref sharedRef, tip git.OID, done git.PushResult) {
	p.changed = p.changed || done.Changed
	if err := recordSent(ctx, p.w, ref.record, tip); err != nil {
		p.w.Log.WarnContext(ctx, "state of the remote not recorded", "error", err.Error())
	}
	if ref.name == checkpoint.MetadataBranch {
		p.reportSent(ctx, tip, done)
	}
}

// recordSent records the commit that a remote is known to have.
func recordSent(ctx context.Context, w *workspace.Workspace, record string, tip git.OID) error {
	was, err := tipOf(ctx, w, record)
	if err != nil || was == tip {
		return err
	}
	return git.UpdateRefs(ctx, w.Repo, "entire: pushed", []git.RefChange{{Name: record, New: tip, Old: was}})
}

// reportSent prints the number of checkpoints that are new at the remote.
func (p *push) reportSent(ctx context.Context, tip git.OID, done git.PushResult) {
	if !done.Changed {
		return
	}
	subjects, err := git.Subjects(ctx, p.w.Repo, done.From, string(tip))
	if err != nil {
		p.w.Log.WarnContext(ctx, "sent checkpoints not counted", "error", err.Error())
		return
	}
	ids := map[checkpoint.ID]bool{}
	for _, subject := range subjects {
		if id, ok := checkpoint.SubjectID(subject); ok {
			ids[id] = true
		}
	}
	switch n := len(ids); n {
	case 0:
	case 1:
		p.say("entire: sent 1 checkpoint to " + p.shown)
	default:
		p.say(fmt.Sprintf("entire: sent %d checkpoints to %s", n, p.shown))
	}
}

// pushCall holds the relevant options of a git push.
type pushCall struct {
	DryRun bool
	Quiet  bool
}

// readPush parses the arguments of git push by git's rules: options may be bundled,
// abbreviated as long as they are unambiguous, negated by a later --no-, and follow the names
// of remote and refs.
func readPush(args []string) pushCall {
	var call pushCall
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
			return call
		case strings.HasPrefix(arg, "--"):
			if call.long(arg[2:]) {
				i++ // its value
			}
		case strings.HasPrefix(arg, "-"):
			if call.short(arg[1:]) {
				i++
			}
		}
	}
	return call
}

// short parses bundled options of one letter, and reports whether the next argument is the
// value of the last.
func (c *pushCall) short(letters string) (value bool) {
	for i, letter := range letters {
		switch letter {
		case 'n':
			c.DryRun = true
		case 'q':
			c.Quiet = true
		case 'v':
			c.Quiet = false
		case 'o':
			return i == len(letters)-1 // else the rest is the value
		}
	}
	return false
}

// long parses a long option, and reports whether the next argument is its value.
func (c *pushCall) long(word string) (value bool) {
	word, _, joined := strings.Cut(word, "=")
	name, negated := strings.CutPrefix(word, "no-")
	options := []string{
		"all", "atomic", "branches", "delete", "dry-run", "exec", "follow-tags", "force", "force-if-includes",
		"force-with-lease", "ipv4", "ipv6", "mirror", "porcelain", "progress", "prune", "push-option", "quiet",
		"receive-pack", "recurse-submodules", "repo", "set-upstream", "signed", "tags", "thin", "verbose", "verify",
	}
	if !slices.Contains(options, name) { // an unambiguous abbreviation counts
		options = slices.DeleteFunc(options, func(o string) bool { return !strings.HasPrefix(o, name) })
		if len(options) != 1 {
			return false
		}
		name = options[0]
	}
	switch name {
	case "dry-run":
		c.DryRun = !negated
	case "quiet":
		c.Quiet = !negated
	case "verbose":
		c.Quiet = false
	case "repo", "receive-pack", "exec", "push-option", "recurse-submodules":
		return !joined && !negated
	}
	return false
}
