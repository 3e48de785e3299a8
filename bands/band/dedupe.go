package band

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/seed-3aff656d/entire/internal/disk"
)

const (
	dedupeMagic  = "ENTDEDU1"
	dedupeHeader = 32
	slotSize     = 16
	pageSize     = 4096
	pageSlots    = pageSize / slotSize
	// firstBits and lastBits limit the log2 of the number of slots.
	firstBits = 12
	lastBits  = 30
	// probes is the maximum distance of an entry from its home slot. At the table's maximum load
	// no entry is that far away unless the file is damaged.
	probes = 256
	// maxPages bounds the memory: 16 MiB.
	maxPages = 4096
)

// Dedupe finds content that the bands already hold. It is a hash table in a file of its own, from
// the beginning of a hash to a place in a band. It is disposable: each entry was once true of
// some band, and is checked against the record before it is used. Entries may be lost, and a
// damaged file is replaced by an empty one. It is safe for concurrent use by one process; the
// writers of a store exclude each other.
type Dedupe struct {
	path string

	mu     sync.Mutex // guards the fields below
	file   *os.File
	bits   uint
	used   uint32
	pages  map[uint32]*page
	frozen bool // the last attempt to grow failed
}

// page is a part of the table in memory.
type page struct {
	slots [pageSize]byte
	dirty bool
}

// OpenDedupe opens the table at path, or creates it.
func OpenDedupe(path string) (*Dedupe, error) {
	if err := disk.Step("open", path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open table of contents: %w", err)
	}
	d := &Dedupe{path: path, file: f, pages: map[uint32]*page{}}
	if d.load() {
		return d, nil
	}
	d.bits, d.used = firstBits, 0
	if err := prepare(f, path, d.bits); err != nil {
		return nil, errors.Join(fmt.Errorf("make table of contents: %w", err), f.Close())
	}
	return d, nil
}

// ResetDedupe removes the table, for use after bands have lost content.
func ResetDedupe(path string) error {
	if err := disk.Remove(path); err != nil {
		return fmt.Errorf("remove table of contents: %w", err)
	}
	return nil
}

// Find returns the place where a record of the content may be.
func (d *Dedupe) Find(h Hash) (Ref, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	slot, found := d.seek(keyOf(h))
	if !found {
		return Ref{}, false
	}
	return Ref{
		Hash:   h,
		Band:   binary.LittleEndian.Uint32(slot.data()[8:]),
		Offset: binary.LittleEndian.Uint32(slot.data()[12:]),
	}, true
}

// Put records the place of a record. It is written to the file by Close at the latest.
func (d *Dedupe) Put(ref Ref) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.put(keyOf(ref.Hash), ref.Band, ref.Offset)
	if d.used > d.slots()/8*5 && d.bits < lastBits && !d.frozen {
		// A table that can't grow is still used: it loses entries.
		d.frozen = d.grow() != nil
	}
}

// Close writes the changed entries and closes the file.
func (d *Dedupe) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := errors.Join(d.flush(), d.file.Close()); err != nil {
		return fmt.Errorf("write table of contents: %w", err)
	}
	return nil
}

// keyOf returns the beginning of the hash; 0 marks an empty slot.
func keyOf(h Hash) uint64 { return max(binary.LittleEndian.Uint64(h[:]), 1) }

func (d *Dedupe) slots() uint32 { return 1 << d.bits }

// load reads the header; it returns false if the file isn't a valid table.
func (d *Dedupe) load() bool {
	var buf [dedupeHeader]byte
	if _, err := d.file.ReadAt(buf[:], 0); err != nil || string(buf[:8]) != dedupeMagic {
		return false
	}
	if checksum(buf[:dedupeHeader-4]) != binary.LittleEndian.Uint32(buf[dedupeHeader-4:]) {
		return false
	}
	d.bits = uint(binary.LittleEndian.Uint32(buf[8:]))
	d.used = binary.LittleEndian.Uint32(buf[12:])
	info, err := d.file.Stat()
	return err == nil && d.bits >= firstBits && d.bits <= lastBits && info.Size() == tableSize(d.bits)
}

func tableSize(bits uint) int64 { return dedupeHeader + slotSize<<bits }

// prepare makes the file an empty table.
func prepare(f *os.File, path string, bits uint) error {
	if err := disk.Step("write", path); err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	if err := f.Truncate(tableSize(bits)); err != nil {
		return err
	}
	_, err := f.WriteAt(tableHeader(bits, 0), 0)
	return err
}

func tableHeader(bits uint, used uint32) []byte {
	buf := append(make([]byte, 0, dedupeHeader), dedupeMagic...)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(bits))
	buf = binary.LittleEndian.AppendUint32(buf, used)
	buf = append(buf, make([]byte, dedupeHeader-4-len(buf))...)
	return binary.LittleEndian.AppendUint32(buf, checksum(buf))
}

// slot is one entry of the table in memory.
type slot struct {
	page *page
	at   int
}

func (s slot) data() []byte { return s.page.slots[s.at : s.at+slotSize] }

func (s slot) key() uint64 { return binary.LittleEndian.Uint64(s.data()) }

// seek returns the slot of a key, or else the slot for inserting it: the first empty one near its
// home, or its home if all are used.
func (d *Dedupe) seek(key uint64) (s slot, found bool) {
	home := uint32(key >> (64 - d.bits))
	for i := range uint32(probes) {
		s := d.slot((home + i) & (d.slots() - 1))
		switch s.key() {
		case key:
			return s, true
		case 0:
			return s, false
		}
	}
	return d.slot(home), false
}

func (d *Dedupe) put(key uint64, band, offset uint32) {
	s, found := d.seek(key)
	if !found && s.key() == 0 {
		d.used++
	}
	binary.LittleEndian.PutUint64(s.data(), key)
	binary.LittleEndian.PutUint32(s.data()[8:], band)
	binary.LittleEndian.PutUint32(s.data()[12:], offset)
	s.page.dirty = true
}

func (d *Dedupe) slot(n uint32) slot {
	number := n / pageSlots
	p := d.pages[number]
	if p == nil {
		if len(d.pages) >= maxPages {
			// Entries that can't be written are lost.
			_ = d.flush()
			clear(d.pages)
		}
		p = &page{}
		// A page that can't be read is treated as empty.
		_, _ = d.file.ReadAt(p.slots[:], dedupeHeader+int64(number)*pageSize)
		d.pages[number] = p
	}
	return slot{page: p, at: int(n%pageSlots) * slotSize}
}

// flush writes the pages that changed.
func (d *Dedupe) flush() error {
	var stepped bool
	for number, p := range d.pages {
		if !p.dirty {
			continue
		}
		if !stepped {
			if err := disk.Step("write", d.path); err != nil {
				return err
			}
			stepped = true
		}
		if _, err := d.file.WriteAt(p.slots[:], dedupeHeader+int64(number)*pageSize); err != nil {
			return err
		}
		p.dirty = false
	}
	if !stepped {
		return nil
	}
	_, err := d.file.WriteAt(tableHeader(d.bits, d.used), 0)
	return err
}

// grow replaces the table by one of twice the size. Entries keep their order, so that both tables
// are accessed sequentially.
func (d *Dedupe) grow() error {
	temp := d.path + ".tmp"
	if err := disk.Step("create", temp); err != nil {
		return err
	}
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	larger := &Dedupe{path: temp, file: f, bits: d.bits + 1, pages: map[uint32]*page{}}
	err = prepare(f, temp, larger.bits)
	if err == nil {
		for n := range d.slots() {
			s := d.slot(n)
			if key := s.key(); key != 0 {
				larger.put(key, binary.LittleEndian.Uint32(s.data()[8:]), binary.LittleEndian.Uint32(s.data()[12:]))
			}
		}
		err = larger.flush()
	}
	if err == nil {
		err = disk.Rename(temp, d.path)
	}
	if err != nil {
		return errors.Join(err, f.Close(), os.Remove(temp))
	}
	_ = d.file.Close() // the old table is replaced
	d.file, d.bits, d.used, d.pages = f, larger.bits, larger.used, larger.pages
	return nil
}
