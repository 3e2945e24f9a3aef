package persist

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"time"
)

// These constants are part of the format (see doc.go). padByte is not zero, so that padding differs
// from unwritten bytes.
const (
	frameMagic  = "TRFB"
	frameKind   = 1
	frameHeader = 64
	frameAlign  = 64
	sectorSize  = 512
	// maxPayload limits a batch in bytes, so that lengths fit into 32 bits.
	maxPayload = 1 << 30
	padByte    = 0xA5
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

var le = binary.LittleEndian

// A frame is the header of one batch in a segment (see doc.go).
type frame struct {
	segment     Revision // first revision of its segment
	offset      int64    // offset in the segment
	first, last Revision
	count       uint32
	payload     int // bytes
	tailSum     uint32
	sum         uint32 // checksum in the header
	time        int64  // Unix nanoseconds
}

// size returns the number of bytes from the frame's header to the next frame. The payload has one
// checksum per sector, because a power loss destroys whole sectors.
func (f frame) size() int64 {
	n := int64(frameHeader)
	if f.payload > 0 {
		start, end := f.offset+frameHeader, f.offset+frameHeader+int64(f.payload)
		sectors := (end-1)/sectorSize - start/sectorSize + 1
		n += int64(f.payload) + 4*sectors
	}
	return (n + frameAlign - 1) / frameAlign * frameAlign
}

func sectorPart(offset int64, n int) int {
	return min(n, sectorSize-int(offset%sectorSize))
}

func encodeFrame(b []byte, f frame) []byte {
	f.payload = len(b) - frameHeader
	at := f.offset + frameHeader
	for p := frameHeader; p < frameHeader+f.payload; {
		n := sectorPart(at, frameHeader+f.payload-p)
		b = le.AppendUint32(b, checksum(b[p:p+n]))
		p, at = p+n, at+int64(n)
	}
	for int64(len(b)) < f.size() {
		b = append(b, padByte)
	}
	f.tailSum = checksum(b[frameHeader+f.payload:])
	putHeader(b, f)
	return b
}

// putHeader writes the checksum last, because it covers the rest of the header.
func putHeader(b []byte, f frame) {
	copy(b, frameMagic)
	le.PutUint32(b[8:], frameKind)
	le.PutUint32(b[12:], uint32(f.payload))
	le.PutUint32(b[16:], f.count)
	le.PutUint32(b[20:], f.tailSum)
	le.PutUint64(b[24:], uint64(f.first))
	le.PutUint64(b[32:], uint64(f.last))
	le.PutUint64(b[40:], uint64(f.time))
	le.PutUint64(b[48:], uint64(f.offset))
	le.PutUint64(b[56:], uint64(f.segment))
	le.PutUint32(b[4:], checksum(b[8:frameHeader]))
}

// parseHeader parses a frame's header. what describes the error, if any. parseHeader rejects
// inconsistent fields even if the checksum matches, because a wrong length must not be used to find
// the next frame.
func parseHeader(b []byte) (f frame, what string) {
	if string(b[:4]) != frameMagic {
		return f, "a batch does not begin with its mark"
	}
	if le.Uint32(b[4:]) != checksum(b[8:frameHeader]) {
		return f, "the header of a batch has a wrong checksum"
	}
	f = frame{
		payload: int(le.Uint32(b[12:])), count: le.Uint32(b[16:]), tailSum: le.Uint32(b[20:]),
		first: Revision(le.Uint64(b[24:])), last: Revision(le.Uint64(b[32:])),
		sum: le.Uint32(b[4:]), time: int64(le.Uint64(b[40:])), offset: int64(le.Uint64(b[48:])), segment: Revision(le.Uint64(b[56:])),
	}
	switch {
	case le.Uint32(b[8:]) != frameKind:
		return f, "a batch is of an unknown kind"
	case f.payload > maxPayload || f.payload == 0:
		return f, "a batch has an impossible length"
	case f.count == 0 || f.first == 0 || f.last < f.first || f.last-f.first != Revision(f.count)-1:
		return f, "the revisions of a batch do not match its count"
	}
	return f, ""
}

// A flaw describes a frame torn by a crash before the sync, or damaged afterwards.
type flaw struct {
	torn   bool
	offset int64
	what   string
}

// checkBody verifies the payload and the tail, which holds the payload's checksums. It returns nil
// if both are intact. If some sectors are torn and others are damaged, it reports the damage.
func (f frame) checkBody(body []byte) *flaw {
	tail := body[f.payload:]
	if checksum(tail) != f.tailSum {
		return f.classifyTail(tail)
	}
	var torn *flaw
	at := f.offset + frameHeader
	for p, i := 0, 0; p < f.payload; i++ {
		n := sectorPart(at, f.payload-p)
		if b := body[p : p+n]; checksum(b) != le.Uint32(tail[4*i:]) {
			if !allZero(b) || singleFlip(b, b, le.Uint32(tail[4*i:])) {
				return &flaw{offset: at, what: "a sector of a batch has a wrong checksum"}
			}
			torn = &flaw{torn: true, offset: at, what: "a sector of a batch was never written"}
		}
		p, at = p+n, at+int64(n)
	}
	return torn
}

func (f frame) classifyTail(tail []byte) *flaw {
	at := f.offset + frameHeader + int64(f.payload)
	damaged := &flaw{offset: at, what: "the checksums of a batch have a wrong checksum"}
	var torn *flaw
	for p := 0; p < len(tail); {
		n := sectorPart(at+int64(p), len(tail)-p)
		if b := tail[p : p+n]; allZero(b) {
			if singleFlip(b, tail, f.tailSum) {
				return damaged
			}
			torn = &flaw{torn: true, offset: at + int64(p), what: "the checksums of a batch were never written"}
		}
		p += n
	}
	if torn != nil {
		return torn
	}
	return damaged
}

func allZero(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }

// singleFlip reports whether whole would match the checksum sum with one bit of part flipped. part
// is a zeroed subslice of whole. A match means that part is damaged, not unwritten. The cost of
// 4096 checksums per sector arises only for zeroed sectors with a wrong checksum.
func singleFlip(part, whole []byte, sum uint32) bool {
	for i := range part {
		for bit := range 8 {
			part[i] ^= 1 << bit
			same := checksum(whole) == sum
			part[i] ^= 1 << bit
			if same {
				return true
			}
		}
	}
	return false
}

const (
	recordDelete = 1 << iota
	recordMetadata
)

// appendRecord appends one write of a batch. encode appends a value or metadata in stored form.
func appendRecord(b []byte, c *Commit, encode func(b []byte, at Place, value []byte) []byte) []byte {
	flags := byte(0)
	if c.Delete {
		flags |= recordDelete
	}
	if len(c.Metadata) > 0 {
		flags |= recordMetadata
	}
	b = append(b, flags)
	b = binary.AppendUvarint(b, uint64(len(c.Key)))
	b = append(b, c.Key...)
	at := Place{Key: c.Key, Revision: c.Revision}
	b = appendSized(b, func(b []byte) []byte { return encode(b, at, c.Value) })
	if flags&recordMetadata != 0 {
		at.Metadata = true
		b = appendSized(b, func(b []byte) []byte { return encode(b, at, c.Metadata) })
	}
	return b
}

func appendSized(b []byte, add func(b []byte) []byte) []byte {
	start := len(b)
	b = add(b)
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(len(b)-start))
	return slices.Insert(b, start, length[:n]...)
}

// decodeRecords calls fn with a copy of each write of a payload. If fn is nil, it only checks that
// the payload decodes.
func decodeRecords(f frame, payload []byte, fn func(Commit) error) error {
	return eachRecord(f, payload, func(c Commit) error {
		if fn == nil {
			return nil
		}
		c.Value, c.Metadata = bytes.Clone(c.Value), bytes.Clone(c.Metadata)
		return fn(c)
	})
}

// eachRecord is like decodeRecords, but the values and metadata share memory with the payload.
func eachRecord(f frame, payload []byte, fn func(Commit) error) error {
	when := time.Unix(0, f.time)
	for rev := f.first; rev <= f.last; rev++ {
		c, rest, ok := decodeRecord(payload)
		if !ok {
			return fmt.Errorf("the write of revision %d does not decode", rev)
		}
		payload = rest
		c.Revision, c.Time, c.Index = rev, when, -1
		if err := fn(c); err != nil {
			return callbackError{err}
		}
	}
	if len(payload) != 0 {
		return fmt.Errorf("%d bytes follow the last write of a batch", len(payload))
	}
	return nil
}

// decodeRecord decodes one write. The value and metadata of c share memory with b.
func decodeRecord(b []byte) (c Commit, rest []byte, ok bool) {
	if len(b) == 0 || b[0]&^(recordDelete|recordMetadata) != 0 {
		return c, nil, false
	}
	flags := b[0]
	key, b, ok := takeBytes(b[1:])
	if !ok {
		return c, nil, false
	}
	c.Key, c.Delete = string(key), flags&recordDelete != 0
	if c.Value, b, ok = takeBytes(b); ok && flags&recordMetadata != 0 {
		c.Metadata, b, ok = takeBytes(b)
	}
	return c, b, ok
}

// takeBytes limits the capacity of part, so that appending to it cannot overwrite rest.
func takeBytes(b []byte) (part, rest []byte, ok bool) {
	n, used := binary.Uvarint(b)
	if used <= 0 || n > uint64(len(b)-used) {
		return nil, nil, false
	}
	b = b[used:]
	return b[:n:n], b[n:], true
}

// A callbackError wraps an error from the caller's function, as opposed to a decoding error.
type callbackError struct{ error }

func (e callbackError) Unwrap() error { return e.error }

func updateChecksum(sum uint32, b []byte) uint32 { return crc32.Update(sum, castagnoli, b) }
