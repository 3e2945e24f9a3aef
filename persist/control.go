package persist

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/persist/vfs"
)

const (
	controlFile       = "control"
	controlMagic      = "TROUPECT"
	controlVersion    = 1
	controlSlots      = 2
	watermarkClean    = 1
	watermarkUnsynced = 2
	bootIDBytes       = 40

	revisionReservation = 1 << 20
)

// A watermark records the minimum content of the directory (see doc.go).
type watermark struct {
	sequence    uint64
	clean       bool     // the journal was closed, and nothing was appended since
	unsynced    bool     // written under SyncNone: a power loss may lose data after end
	maxRevision Revision // maximum revision that may have been assigned
	newest      Revision // revision of the state
	segment     Revision // first revision of the newest segment; 0: the journal was empty
	end         int64    // minimum end offset of the segment's last batch
	sum         uint32   // checksum in the header of the last batch before end; 0: none
	length      int64    // minimum length of the segment's file
	bootID      string   // boot identifier of the machine
}

// encode fills a whole sector, so that writing the record changes only one sector of the disk.
func (m watermark) encode() []byte {
	b := make([]byte, vfs.Sector)
	copy(b, controlMagic)
	flags := uint32(0)
	if m.clean {
		flags |= watermarkClean
	}
	if m.unsynced {
		flags |= watermarkUnsynced
	}
	le.PutUint32(b[12:], controlVersion)
	le.PutUint64(b[16:], m.sequence)
	le.PutUint32(b[24:], flags)
	le.PutUint32(b[28:], m.sum)
	le.PutUint64(b[32:], uint64(m.maxRevision))
	le.PutUint64(b[40:], uint64(m.newest))
	le.PutUint64(b[48:], uint64(m.segment))
	le.PutUint64(b[56:], uint64(m.end))
	le.PutUint64(b[64:], uint64(m.length))
	copy(b[72:72+bootIDBytes], m.bootID)
	le.PutUint32(b[8:], checksum(b[12:]))
	return b
}

func decodeWatermark(b []byte) (m watermark, what string) {
	switch {
	case len(b) < vfs.Sector:
		return m, "the file is too short"
	case string(b[:8]) != controlMagic:
		return m, "a record does not begin with its mark"
	case le.Uint32(b[8:]) != checksum(b[12:]):
		return m, "a record has a wrong checksum"
	case le.Uint32(b[12:]) != controlVersion:
		return m, fmt.Sprintf("unknown format version %d", le.Uint32(b[12:]))
	}
	flags := le.Uint32(b[24:])
	return watermark{
		sequence: le.Uint64(b[16:]), clean: flags&watermarkClean != 0, unsynced: flags&watermarkUnsynced != 0, sum: le.Uint32(b[28:]),
		maxRevision: Revision(le.Uint64(b[32:])), newest: Revision(le.Uint64(b[40:])), segment: Revision(le.Uint64(b[48:])),
		end: int64(le.Uint64(b[56:])), length: int64(le.Uint64(b[64:])), bootID: strings.TrimRight(string(b[72:72+bootIDBytes]), "\x00"),
	}, ""
}

// readControl returns the newest watermark of a directory. If one of the two records is damaged, it
// returns the other record with relaxed bounds. fault then describes the damage.
func readControl(fs vfs.FS, dir string) (m watermark, fault *CorruptError, err error) {
	path := filepath.Join(dir, controlFile)
	data, err := readFile(fs, path)
	if err != nil {
		return m, nil, err
	}
	found := 0
	for i := range controlSlots {
		off := i * vfs.Sector
		one, what := decodeWatermark(data[min(off, len(data)):min(off+vfs.Sector, len(data))])
		if what != "" {
			fault = &CorruptError{File: path, Offset: int64(off), What: what}
			continue
		}
		if found++; found == 1 || one.sequence > m.sequence {
			m = one
		}
	}
	switch {
	case found == 0:
		return m, fault, fault
	case fault != nil:
		// Relax the bounds, because the damaged record may have been newer, with a smaller length.
		m.length, m.clean, m.maxRevision = 0, false, m.maxRevision+2*revisionReservation
	case len(data) != controlSlots*vfs.Sector:
		fault = &CorruptError{File: path, Offset: controlSlots * vfs.Sector, What: "bytes follow the records"}
	}
	return m, fault, nil
}

func writeControl(fs vfs.FS, dir string, m watermark) error {
	m.sequence = 1
	data := m.encode()
	m.sequence = 2
	return replaceFile(fs, filepath.Join(dir, controlFile), append(data, m.encode()...))
}

// A control is the control file of an open journal. Its two records are overwritten alternately, so
// that one of them is always intact. Writing in place needs no space on most file systems.
type control struct {
	mu        sync.Mutex // held while a watermark is computed and written
	file      vfs.File   // nil: the directory has no control file yet
	lock      vfs.Lock   // excludes other processes even if the lock file was replaced
	watermark watermark  // newest durable watermark
	lost      bool       // the file is missing and the loss was accepted; guarded by writeMu
	// maxRevision is the highest revision that may be assigned under the newest watermark.
	maxRevision atomic.Uint64
}

func (c *control) open(fs vfs.FS, dir string, m watermark) (err error) {
	c.watermark = m
	path := filepath.Join(dir, controlFile)
	if c.lock, err = lockOf(fs, path); err != nil {
		return err
	}
	if c.file, err = fs.OpenReadWrite(path); err != nil {
		return errors.Join(err, c.lock.Close())
	}
	return nil
}

// write selects the sector by sequence number, so that it never overwrites the newest durable
// record.
func (c *control) write(m watermark) error {
	m.sequence = c.watermark.sequence + 1
	if _, err := c.file.WriteAt(m.encode(), int64(m.sequence%controlSlots)*vfs.Sector); err != nil {
		return err
	}
	if err := c.file.Sync(); err != nil {
		return err
	}
	c.watermark = m
	return nil
}

func (c *control) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == nil {
		return nil
	}
	err := errors.Join(c.file.Close(), c.lock.Close())
	c.file = nil
	return err
}

// ErrDataLoss means that a data directory lacks data that was durable. It can be opened only after
// a restore, or with Options.AcceptDataLoss.
var ErrDataLoss = errors.New("acknowledged writes may be lost")

// A DataLossError reports the incomplete file of a data directory.
type DataLossError struct{ File, What string }

func (e *DataLossError) Error() string {
	return fmt.Sprintf("%s %s: %v", e.File, e.What, ErrDataLoss)
}

func (e *DataLossError) Unwrap() error { return ErrDataLoss }
