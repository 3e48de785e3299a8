package git

import (
	"context"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Errors of Push and Fetch.
var (
	// ErrRemoteDiverged means that the remote's branch has commits that the pushed one lacks, or was
	// moved meanwhile: fetch, and try again.
	ErrRemoteDiverged = errors.New("the remote has commits that are missing here")
	// ErrNoRemoteRef means that the remote has no such ref.
	ErrNoRemoteRef = errors.New("the remote has no such branch")
)

// RemoteError reports a failed push or fetch.
type RemoteError struct {
	// Reason is one line, without user names and passwords of URLs.
	Reason string
	cause  error
}

func (e *RemoteError) Error() string { return e.Reason }

// Unwrap returns ErrRemoteDiverged, ErrNoRemoteRef or nil.
func (e *RemoteError) Unwrap() error { return e.cause }

// PushResult describes the effect of a push.
type PushResult struct {
	// Changed reports whether the remote's ref has moved.
	Changed bool
	// From is the former commit of the remote's ref, perhaps abbreviated; empty if the ref is new.
	From string
}

// Push pushes one refspec to a remote's name or URL, without hooks and without prompting. Only the
// functions of this file may use the network.
func Push(ctx context.Context, r *Repo, remote, refspec string) (PushResult, error) {
	out, err := runRemote(ctx, r, Command{Args: []string{
		"push", "--porcelain", r.ProgressFlag(), "--no-verify", "--no-follow-tags", "--recurse-submodules=no",
		"--", remote, refspec,
	}})
	return parsePushed(string(out), err)
}

// PushedRefs is the effect of a push of several refs, by their names.
type PushedRefs struct {
	// Sent are those that the remote has now, Behind those of which it has commits that are missing here.
	Sent, Behind []string
	// Refused are the remote's reasons for others that it didn't take.
	Refused map[string]string
}

// PushRefs pushes refs to a remote's name or URL, without force: New of each is the commit for Name. An
// error means that the remote reported nothing about any of them.
func PushRefs(ctx context.Context, r *Repo, remote string, refs []RefChange) (PushedRefs, error) {
	specs := make([]string, len(refs))
	for i, ref := range refs {
		specs[i] = string(ref.New) + ":" + ref.Name
	}
	out, err := runRemote(ctx, r, Command{Args: append([]string{
		"push", "--porcelain", r.ProgressFlag(), "--no-verify", "--no-follow-tags", "--recurse-submodules=no",
		"--", remote,
	}, specs...)})
	done := PushedRefs{Refused: map[string]string{}}
	reported := false
	for line := range strings.Lines(string(out)) {
		flag, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		pair, summary, ok := strings.Cut(rest, "\t")
		_, name, isPair := strings.Cut(pair, ":")
		if !ok || !isPair {
			continue
		}
		reported = true
		switch {
		case flag != "!":
			done.Sent = append(done.Sent, name)
		case isBehind(summary):
			done.Behind = append(done.Behind, name)
		default:
			done.Refused[name] = HideURL(summary)
		}
	}
	if reported && ctx.Err() == nil {
		err = nil
	}
	return done, err
}

// ReplaceRemoteRef sets a remote's ref to New, even if it loses commits, provided it is still at
// Old; an empty Old means that the ref must not exist. The error is ErrRemoteDiverged if it isn't.
func ReplaceRemoteRef(ctx context.Context, r *Repo, remote string, u RefChange) error {
	out, err := runRemote(ctx, r, Command{Args: []string{
		"push", "--porcelain", r.ProgressFlag(), "--no-verify", "--no-follow-tags", "--recurse-submodules=no",
		"--force-with-lease=" + u.Name + ":" + string(u.Old), "--", remote, "+" + string(u.New) + ":" + u.Name,
	}})
	_, err = parsePushed(string(out), err)
	return err
}

// RemoteRef returns the object that a ref of a remote points at, or "" if there is no such ref.
func RemoteRef(ctx context.Context, r *Repo, remote, name string) (OID, error) {
	out, err := runRemote(ctx, r, Command{Args: []string{"ls-remote", "--", remote, name}})
	oid, _, _ := strings.Cut(string(out), "\t")
	if err != nil || !r.Format.Valid(OID(oid)) {
		return "", err
	}
	return OID(oid), nil
}

// RemoteRefs returns the refs of a remote that match one of the patterns, which may be whole names.
func RemoteRefs(ctx context.Context, r *Repo, remote string, patterns ...string) ([]Ref, error) {
	out, err := runRemote(ctx, r, Command{Args: append([]string{"ls-remote", "--", remote}, patterns...)})
	if err != nil {
		return nil, err
	}
	var refs []Ref
	for line := range strings.Lines(string(out)) {
		oid, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ok && r.Format.Valid(OID(oid)) {
			refs = append(refs, Ref{Name: name, OID: OID(oid)})
		}
	}
	return refs, nil
}

// FetchRefs is Fetch for any number of refspecs. In a partial clone it fetches all objects of the refs.
func FetchRefs(ctx context.Context, r *Repo, remote string, refspecs []string) error {
	if len(refspecs) == 0 {
		return nil
	}
	args := []string{
		"fetch", "--quiet", r.ProgressFlag(), "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--recurse-submodules=no",
		"--refmap=", "--stdin",
	}
	if partial, err := r.IsPartial(); err != nil {
		return err
	} else if partial {
		args = append(args, "--no-filter")
	}
	_, err := runRemote(ctx, r, Command{Args: append(args, "--", remote), Stdin: strings.NewReader(strings.Join(refspecs, "\n") + "\n")})
	return err
}

// Fetch fetches refspecs from a remote's name or URL, without tags and without prompting. No other
// ref moves, so that no reflog leads to what was fetched. In a partial clone the clone's filter
// applies.
func Fetch(ctx context.Context, r *Repo, remote string, refspecs ...string) error {
	args := []string{
		"fetch", "--quiet", r.ProgressFlag(), "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--recurse-submodules=no",
		"--refmap=", "--", remote,
	}
	_, err := runRemote(ctx, r, Command{Args: append(args, refspecs...)})
	return err
}

// PushDestination is the target of a push.
type PushDestination struct {
	// URL is the URL, or several in lines, after applying all of git's rules.
	URL string
	// Configured reports whether the URL belongs to a remote in the configuration.
	Configured bool
}

// FindPushDestination returns the target of a push to the remote's name or URL.
func FindPushDestination(ctx context.Context, r *Repo, remote string) (PushDestination, error) {
	out, err := r.Run(ctx, "remote", "get-url", "--push", "--all", "--", remote)
	if _, unknown := errors.AsType[*ExitError](err); unknown {
		return PushDestination{URL: remote}, nil
	}
	return PushDestination{URL: strings.TrimSuffix(string(out), "\n"), Configured: true}, err
}

// runRemote runs a git command that connects to a remote.
func runRemote(ctx context.Context, r *Repo, q Command) ([]byte, error) {
	if err := disk.Step(q.Subcommand(), r.CommonDir); err != nil {
		return nil, err
	}
	q.Network, q.NoTerminal, q.Progress = true, true, true
	// Neither git nor ssh, nor their helpers, ask for a password or open a window. The behavior of
	// the user's own ssh command is up to the user.
	q.Env = []string{"GIT_ASKPASS=false", "SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never"}
	if !r.Config.HasSSHCommand(ctx) {
		q.Env = append(q.Env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	}
	out, err := r.Do(ctx, q)
	exit, failed := errors.AsType[*ExitError](err)
	if !failed {
		return out, err
	}
	failure := &RemoteError{Reason: remoteReason(exit.Stderr)}
	if strings.Contains(exit.Stderr, "couldn't find remote ref") {
		failure.cause = ErrNoRemoteRef
	}
	return out, failure
}

// parsePushed parses the output of git push --porcelain for the one pushed ref: a flag, the refs,
// and a summary.
func parsePushed(out string, err error) (PushResult, error) {
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 { //nolint:mnd // as above
			continue
		}
		switch flag, summary := fields[0], fields[2]; flag {
		case "=":
			return PushResult{}, err
		case "!":
			failure, ok := errors.AsType[*RemoteError](err)
			if !ok {
				return PushResult{}, err
			}
			if isBehind(summary) {
				failure.cause = ErrRemoteDiverged
			}
			failure.Reason = summary
			return PushResult{}, failure
		default:
			from, _, _ := strings.Cut(summary, "..")
			if strings.HasPrefix(from, "[") {
				from = ""
			}
			return PushResult{Changed: true, From: from}, err
		}
	}
	return PushResult{}, err
}

// isBehind reports whether the summary of a rejected ref means that the remote has another commit than
// git expected. The message for one of two concurrent pushes differs from that for a late push.
func isBehind(summary string) bool {
	return strings.HasPrefix(summary, "[rejected]") || slices.ContainsFunc([]string{"cannot lock ref", "failed to update ref", "incorrect old value"}, func(race string) bool {
		return strings.Contains(summary, race)
	})
}

// remoteReason returns the line of git's stderr with the cause of a failure: the first one that is
// neither advice nor a complaint about the disabled prompts.
func remoteReason(stderr string) string {
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		lower := strings.ToLower(line)
		switch {
		case line == "", line == "remote:", strings.HasPrefix(lower, "warning:"), strings.HasPrefix(lower, "hint:"),
			strings.Contains(lower, "askpass"):
		default:
			return HideURL(TrimStderrPrefix(line))
		}
	}
	return "git says no more"
}

// FetchMissing fetches, in a partial clone, the objects of a commit's tree that were left out when
// the commit was fetched from the remote. It does nothing in other repositories.
func FetchMissing(ctx context.Context, r *Repo, remote, commit string) error {
	partial, err := r.Config.Match(ctx, `^remote\..*\.promisor$`)
	if err != nil || len(partial) == 0 {
		return err
	}
	missing, err := missingOf(ctx, r, commit)
	if err != nil {
		return err
	}
	return FetchObjects(ctx, r, remote, missing)
}

// missingOf returns the objects of a commit's tree that the repository doesn't have.
func missingOf(ctx context.Context, r *Repo, commit string) (missing []OID, err error) {
	out, err := r.Run(ctx, "rev-list", "--objects", "--no-walk", "--missing=print", "--end-of-options", commit, "--")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		if oid, ok := strings.CutPrefix(line, "?"); ok {
			missing = append(missing, OID(strings.TrimSpace(oid)))
		}
	}
	return missing, nil
}

// FetchMissingFiles fetches, in a partial clone, the files of a name in all folders of a commit. It does
// nothing in other repositories.
func FetchMissingFiles(ctx context.Context, r *Repo, remote, commit, name string) error {
	if partial, err := r.IsPartial(); err != nil || !partial {
		return err
	}
	out, err := r.Run(ctx, "ls-tree", "-r", "-z", "--format=%(objectname) %(path)", commit)
	if err != nil {
		return err
	}
	named := map[OID]bool{}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if oid, file, ok := strings.Cut(entry, " "); ok && path.Base(file) == name {
			named[OID(oid)] = true
		}
	}
	missing, err := missingOf(ctx, r, commit)
	if err != nil {
		return err
	}
	return FetchObjects(ctx, r, remote, slices.DeleteFunc(missing, func(oid OID) bool { return !named[oid] }))
}

// FetchObjects fetches objects by their ids, without the objects they refer to. The remote must
// permit that, as remotes of partial clones do.
func FetchObjects(ctx context.Context, r *Repo, remote string, oids []OID) error {
	if len(oids) == 0 {
		return nil
	}
	var wanted strings.Builder
	for _, oid := range oids {
		wanted.WriteString(string(oid) + "\n")
	}
	_, err := runRemote(ctx, r, Command{Stdin: strings.NewReader(wanted.String()), Args: []string{
		"-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", r.ProgressFlag(), "--no-tags", "--no-write-fetch-head",
		"--no-auto-maintenance", "--filter=blob:none", "--recurse-submodules=no", "--stdin", "--", remote,
	}})
	return err
}

// HideURL removes user names and passwords from the URLs in a text.
func HideURL(text string) string {
	return regexp.MustCompile(`://[^/\s]*@`).ReplaceAllString(text, "://")
}

// Remotes returns the names of the configured remotes in their order.
func Remotes(ctx context.Context, r *Repo) ([]string, error) {
	out, err := r.Run(ctx, "remote")
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(out)), nil
}

// RemoteHead returns the default branch of a remote as recorded when it was cloned, or "" if it is
// not recorded.
func RemoteHead(ctx context.Context, r *Repo, remote string) (string, error) {
	prefix := "refs/remotes/" + remote + "/"
	out, err := r.Run(ctx, "symbolic-ref", "--quiet", prefix+"HEAD")
	if _, failed := errors.AsType[*ExitError](err); failed {
		return "", nil
	}
	branch, _ := strings.CutPrefix(strings.TrimSuffix(string(out), "\n"), prefix)
	return branch, err
}
