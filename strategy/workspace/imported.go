package workspace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// keySize is the size of the hash of a message's id in ImportedMessages.
const keySize = 8

// ImportedMessagesPath returns the path of the list of the messages of imported sessions, by which a session
// that continues with their history doesn't count them again. It is a cache: each import completes it.
func (w *Workspace) ImportedMessagesPath() string {
	return filepath.Join(w.RecordsDir(), "imported-messages")
}

// ImportedMessages calls each with the hashes of the ids of the messages of imported sessions.
func (w *Workspace) ImportedMessages(each func(key uint64)) error {
	data, err := os.ReadFile(w.ImportedMessagesPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the messages of imported sessions: %w", err)
	}
	for ; len(data) >= keySize; data = data[keySize:] {
		each(binary.LittleEndian.Uint64(data))
	}
	return nil
}

// AddImportedMessages adds hashes of ids of messages, which are hashed like those of ImportedMessages.
func (w *Workspace) AddImportedMessages(keys []uint64) error {
	known := 0
	if err := w.ImportedMessages(func(key uint64) { keys = append(keys, key); known++ }); err != nil {
		return err
	}
	slices.Sort(keys)
	if keys = slices.Compact(keys); len(keys) == known {
		return nil
	}
	data := make([]byte, 0, keySize*len(keys))
	for _, key := range keys {
		data = binary.LittleEndian.AppendUint64(data, key)
	}
	if err := disk.MkdirAll(w.RecordsDir(), 0o700); err != nil {
		return err
	}
	return disk.WriteCache(w.ImportedMessagesPath(), data, 0o600)
}
