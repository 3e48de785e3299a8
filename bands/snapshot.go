package bands

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/plain"
)

// The errors that callers distinguish; they come wrapped.
var (
	// ErrNoStore means that there is no store at the path.
	ErrNoStore = errors.New("no store")
	// ErrNoSnapshot means that the store has no such version.
	ErrNoSnapshot = errors.New("no such snapshot")
	// ErrDamaged means that something in the store doesn't match its checksum.
	ErrDamaged = errors.New("damaged")
	// ErrRefusedRoot means that the tree is the home directory or the file
	// system's root.
	ErrRefusedRoot = errors.New("can't be the root of a store")
	// ErrTooMuch means that more has changed than a snapshot was allowed to read.
	ErrTooMuch = errors.New("too many changes for the time limit")
	// ErrNoRoom means that the free-space floor or the cap forbids a snapshot.
	ErrNoRoom = errors.New("not enough room for a snapshot")
)

// Version is the number of a snapshot in a store. Versions only grow.
type Version int

// String returns the version as people write it: v3.
func (v Version) String() string { return "v" + strconv.Itoa(int(v)) }

// ParseVersion parses v3 or 3.
func ParseVersion(s string) (Version, error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "v"), 10, 31)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%q is not a version such as v1 or v12", s)
	}
	return Version(n), nil
}

// Cause is the reason for a snapshot; retention depends on it.
type Cause string

// The causes.
const (
	// Named snapshots are those the user asked for.
	Named Cause = "named"
	// Auto ones were taken by a hook or by checkpoint --auto.
	Auto Cause = "auto"
	// Prompt ones were taken when a turn began.
	Prompt Cause = "prompt"
	// Commit ones were taken because of a commit.
	Commit Cause = "commit"
	// Rescue ones were taken before a restore.
	Rescue Cause = "rescue"
)

// Causality records the origin of a snapshot. Every field may be empty.
type Causality struct {
	Agent   string `json:"agent,omitempty"`
	Session string `json:"session,omitempty"`
	Turn    string `json:"turn,omitempty"`
	Action  string `json:"action,omitempty"`
	// Prompt is the redacted beginning of the prompt.
	Prompt string `json:"prompt,omitempty"`
	// Commit is HEAD when the snapshot was taken.
	Commit string `json:"commit,omitempty"`
	Branch string `json:"branch,omitempty"`
	// Metadata is data added by the caller: see CheckMetadata. It is redacted.
	Metadata map[string]string `json:"metadata,omitempty"`
	// Shadow is the session's shadow commit of the same stop.
	Shadow string `json:"shadow,omitempty"`
	// TranscriptPath, TranscriptBytes and TranscriptLines are the transcript and its length.
	TranscriptPath  string `json:"transcript_path,omitempty"`
	TranscriptBytes int64  `json:"transcript_bytes,omitempty"`
	TranscriptLines int    `json:"transcript_lines,omitempty"`
	// Restores is set in a rescue snapshot: the version that was restored after it.
	Restores Version `json:"restores,omitempty"`
	// RestoresPaths reports whether only some paths of it were restored.
	RestoresPaths bool `json:"restores_paths,omitempty"`
	// Undoes reports whether it was an undo or redo: it restored only what the restore whose
	// rescue Restores is had changed.
	Undoes bool `json:"undoes,omitempty"`
}

// Bounds of Causality.Metadata.
const (
	maxMetadata      = 32   // entries
	maxMetadataKey   = 64   // bytes
	maxMetadataValue = 1024 // bytes
)

// CheckMetadata returns an error if metadata is invalid. It has at most 32 entries; a key has 1
// to 64 ASCII letters, digits, ".", "_" and "-"; a value is UTF-8 of at most 1,024 bytes without
// control characters.
func CheckMetadata(m map[string]string) error {
	if len(m) > maxMetadata {
		return fmt.Errorf("%d metadata entries, at most %d are allowed", len(m), maxMetadata)
	}
	bad := func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r)
	}
	for key, value := range m {
		switch {
		case key == "" || len(key) > maxMetadataKey || strings.ContainsFunc(key, bad):
			return fmt.Errorf("invalid metadata key %q: use 1 to %d letters, digits, \".\", \"_\" and \"-\"", key, maxMetadataKey)
		case len(value) > maxMetadataValue:
			return fmt.Errorf("the value of %s has %d bytes, at most %d are allowed", key, len(value), maxMetadataValue)
		case !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
			return fmt.Errorf("the value of %s contains control characters, or isn't UTF-8", key)
		}
	}
	return nil
}

// Snapshot is the description of one version, as recorded in snapshot.json.
type Snapshot struct {
	Version Version   `json:"version"`
	Message string    `json:"message,omitempty"`
	Cause   Cause     `json:"cause"`
	Created time.Time `json:"created_at"`
	// Parent is the lineage's previous snapshot, 0 for the first.
	Parent Version `json:"parent,omitempty"`
	// Root is the absolute path of the tree, Lineage six hex digits for it: the worktrees of a
	// repository share a store and have a lineage each.
	Root    string `json:"root"`
	Lineage string `json:"lineage"`
	// Volume is the driver that made the snapshot; "" for a snapshot of a tree. The files of a
	// volume's snapshot are in VolumeDir; it has neither Tree nor Bands, and its entries aren't
	// counted.
	Volume string `json:"volume,omitempty"`
	// Tree is the root directory's record.
	Tree TreeRef `json:"tree"`
	// Bands are the bands that the snapshot refers to, with their lengths at that time.
	Bands  []BandLength `json:"bands"`
	Totals band.Totals  `json:"totals"`
	// Added is the number of bytes that this snapshot added to the bands.
	Added int64 `json:"added"`
	// Late reports whether the tree may have changed between the moment that the snapshot
	// represents and the snapshot.
	Late bool `json:"late,omitempty"`
	// Only are the paths of a partial snapshot; empty for the whole tree. A path that isn't in
	// the tree did not exist.
	Only Paths `json:"only,omitempty"`
	// LeftOut are directories left out because of the cap.
	LeftOut   []string  `json:"left_out,omitempty"`
	Causality Causality `json:"causality,omitzero"`
	// Pairs are the checkpoints that the snapshot represents, read from files
	// beside snapshot.json.
	Pairs []Pair `json:"-"`
}

// Paths are paths from the root of a tree.
type Paths = plain.GitPaths

// TreeRef is a band.Ref in JSON.
type TreeRef struct {
	Hash   string `json:"sha256"`
	Band   uint32 `json:"band"`
	Offset uint32 `json:"offset"`
}

// Ref returns the reference; false if Hash isn't a valid hash.
func (t TreeRef) Ref() (band.Ref, bool) {
	h, ok := band.ParseHash(t.Hash)
	return band.Ref{Hash: h, Band: t.Band, Offset: t.Offset}, ok
}

// BandLength is the length of a band when a snapshot was taken.
type BandLength struct {
	Number uint32 `json:"number"`
	Length int64  `json:"length"`
}

// Pair links a snapshot with a checkpoint of a commit.
type Pair struct {
	Checkpoint string    `json:"checkpoint_id"`
	Commit     string    `json:"commit"`
	Created    time.Time `json:"created_at"`
	// Late reports whether the tree may have changed since the commit.
	Late bool `json:"late,omitempty"`
}

// BandLengths returns the recorded length of each band, by its number.
func (s *Snapshot) BandLengths() map[uint32]int64 {
	lengths := make(map[uint32]int64, len(s.Bands))
	for _, b := range s.Bands {
		lengths[b.Number] = b.Length
	}
	return lengths
}
