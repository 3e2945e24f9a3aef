package etcd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/troupe-api/troupe/persist"
)

const (
	// positionBits is the number of revision bits that hold a write's position in its transaction.
	positionBits = 7
	// wholeRevision is the position that represents an entire etcd revision, even one without
	// writes.
	wholeRevision = 1<<positionBits - 1
	// maxWrites limits the writes of one transaction.
	maxWrites = wholeRevision

	valueFormat  = 1
	recordFormat = 1
	noteDeletes  = 1 // flag of a note
)

type keys struct{ prefix string }

func (k keys) format() string                { return k.prefix + "/format" }
func (k keys) filling() string               { return k.prefix + "/filling" }
func (k keys) labels() string                { return k.prefix + "/labels/" }
func (k keys) secrets() string               { return k.prefix + "/secrets/" }
func (k keys) objects() string               { return k.prefix + "/objects/" }
func (k keys) claims() string                { return k.prefix + "/claims/" }
func (k keys) guards() string                { return k.prefix + "/guards/" }
func (k keys) records() string               { return k.prefix + "/records/" }
func (k keys) copies() string                { return k.prefix + "/copies/" }
func (k keys) copyMarks(name string) string  { return k.copies() + name }
func (k keys) compaction() string            { return k.prefix + "/compaction" }
func (k keys) object(key string) string      { return k.objects() + key }
func (k keys) claim(name string) string      { return k.claims() + name }
func (k keys) guard(name string) string      { return k.guards() + name }
func (k keys) record(writer string) string   { return k.records() + writer }
func (k keys) all() string                   { return k.prefix + "/" }
func trimKey(key []byte, with string) string { return strings.TrimPrefix(string(key), with) }

type revisions struct{ base persist.Revision }

func (r revisions) of(etcd int64, position byte) persist.Revision {
	return r.base + persist.Revision(etcd)<<positionBits | persist.Revision(position)
}

func (r revisions) upTo(etcd int64) persist.Revision { return r.of(etcd, wholeRevision) }

func (r revisions) etcd(revision persist.Revision) int64 {
	if revision < r.base {
		return 0
	}
	return int64((revision - r.base) >> positionBits)
}

// check rejects etcd revisions whose resourceVersions would overflow an int64.
func (r revisions) check(etcd int64) error {
	if limit := int64((math.MaxInt64 - r.base) >> positionBits); etcd >= limit {
		return fmt.Errorf("etcd: the servers are at revision %d, but resource versions end at revision %d: was --bump-revision too large in a restore?", etcd, limit)
	}
	return nil
}

var errFormat = errors.New("etcd: the value has an unknown format")

func appendHead(b []byte, position byte, offset int) []byte {
	b = append(b, valueFormat, position)
	return binary.AppendUvarint(b, uint64(max(offset, -1)+1))
}

func splitHead(b []byte) (position byte, offset int, rest []byte, err error) {
	if len(b) < 3 || b[0] != valueFormat || b[1] >= wholeRevision {
		return wholeRevision, -1, b, errFormat
	}
	n, used := binary.Uvarint(b[2:])
	if used <= 0 || n > uint64(len(b))+uint64(maxOffset) {
		return wholeRevision, -1, b, errFormat
	}
	return b[1], int(n) - 1, b[2+used:], nil
}

// valueAt inserts the revision's digits at an offset. An offset beyond the value can only come from
// another program.
func valueAt(value []byte, offset int, revision persist.Revision) ([]byte, error) {
	if offset > len(value) {
		return value, errFormat
	}
	return (&persist.Write{Value: value, RevisionOffset: offset}).ValueAt(revision), nil
}

// maxOffset limits decoded offsets. They cannot be checked against the value, because the encoded
// value may be shorter.
const maxOffset = 1 << 30

// A record is the decoded value of a log's record key. Each transaction of the log writes this key.
type record struct {
	number uint64
	time   time.Time
	notes  []note
}

// A note describes one write of a record: its metadata and, for a deletion, the key and the value.
type note struct {
	position byte
	deletes  bool
	key      string
	value    []byte // value of a deletion, with its header
	metadata []byte
}

func (r *record) encode() []byte {
	b := binary.AppendUvarint([]byte{recordFormat}, r.number)
	b = binary.BigEndian.AppendUint64(b, uint64(r.time.UnixNano()))
	for _, n := range r.notes {
		flags := byte(0)
		if n.deletes {
			flags = noteDeletes
		}
		b = append(b, n.position, flags)
		for _, part := range []string{n.key, string(n.value), string(n.metadata)} {
			b = append(binary.AppendUvarint(b, uint64(len(part))), part...)
		}
	}
	return b
}

func decodeRecord(b []byte) (*record, error) {
	if len(b) < 1 || b[0] != recordFormat {
		return nil, errFormat
	}
	number, used := binary.Uvarint(b[1:])
	if used <= 0 || len(b) < 1+used+8 {
		return nil, errFormat
	}
	b = b[1+used:]
	r := &record{number: number, time: time.Unix(0, int64(binary.BigEndian.Uint64(b)))}
	for b = b[8:]; len(b) > 0; {
		if len(b) < 2 {
			return nil, errFormat
		}
		n := note{position: b[0], deletes: b[1]&noteDeletes != 0}
		b = b[2:]
		var parts [3][]byte
		for i := range parts {
			size, used := binary.Uvarint(b)
			if used <= 0 || size > uint64(len(b)-used) {
				return nil, errFormat
			}
			parts[i], b = b[used:used+int(size)], b[used+int(size):]
		}
		n.key, n.value, n.metadata = string(parts[0]), parts[1], parts[2]
		r.notes = append(r.notes, n)
	}
	return r, nil
}

func (r *record) note(position byte) *note {
	if r != nil {
		for i := range r.notes {
			if r.notes[i].position == position {
				return &r.notes[i]
			}
		}
	}
	return nil
}

func (r *record) deletion(key string) *note {
	if r != nil {
		for i := range r.notes {
			if r.notes[i].deletes && r.notes[i].key == key {
				return &r.notes[i]
			}
		}
	}
	return nil
}

const formatText = "troupe-etcd 1 %d"

func encodeFormat(base persist.Revision) string { return fmt.Sprintf(formatText, base) }

func decodeFormat(text []byte) (base persist.Revision, err error) {
	if _, err := fmt.Sscanf(string(text), formatText, &base); err != nil || encodeFormat(base) != string(text) {
		return 0, fmt.Errorf("etcd: the state has the format %.60q, which this release does not read: use the release that wrote it", text)
	}
	return base, nil
}
