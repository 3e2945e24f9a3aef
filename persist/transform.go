package persist

import (
	"cmp"
	"errors"
	"fmt"
)

// A Place is where a stored value belongs. A Transformer binds values to their places, so that one that was moved
// to another place cannot be read there.
type Place struct {
	Key      string
	Revision Revision
	// Metadata says that it is the metadata of a write, and not its value.
	Metadata bool
	// Replaced says that a later state of the key is known: the value is part of the history only. It is
	// not part of what a value is bound to.
	Replaced bool
	// Unversioned says that the store tells a revision only after the value was written: the value is not bound to Revision,
	// which is then that of the newest write before.
	Unversioned bool
}

// String is the place as messages name it.
func (p Place) String() string {
	what := "the value"
	if p.Metadata {
		what = "the metadata"
	}
	return fmt.Sprintf("%s of %q at revision %d", what, p.Key, p.Revision)
}

// A Transformer changes values on their way to the disk and back, as encryption does. What it makes is opaque to
// the log: frames, snapshots and backups hold it like any other value.
type Transformer interface {
	// Transforms says whether values of a key may be stored otherwise than they are.
	Transforms(key string) bool
	// Check answers why a value of a key cannot be written now; nil if Encode can.
	Check(key string) error
	// Encode appends what is stored of a value. It must not fail where Check has just answered nil.
	Encode(b []byte, at Place, value []byte) []byte
	// Decode answers the value of what is stored. An error that is ErrUnavailable may pass; any other says that
	// the value cannot be read.
	Decode(at Place, stored []byte) ([]byte, error)
}

// encodeAppend appends what the journal stores of a value or of metadata.
func (j *Journal) encodeAppend(b []byte, at Place, value []byte) []byte {
	if j.o.Transformer == nil || len(value) == 0 {
		return append(b, value...)
	}
	return j.o.Transformer.Encode(b, at, value)
}

// checkWrite answers why a write cannot be stored.
func (j *Journal) checkWrite(key string) error {
	if j.o.Transformer == nil {
		return nil
	}
	if err := j.o.Transformer.Check(key); err != nil {
		return &TransformError{Key: key, Cause: err}
	}
	return nil
}

// A TransformError refuses a write whose value cannot be transformed, for instance because the service that keeps
// the keys does not answer. Other writes of the batch are not concerned.
type TransformError struct {
	Key   string
	Cause error
}

func (e *TransformError) Error() string {
	return fmt.Sprintf("%q cannot be stored: %v", e.Key, e.Cause)
}

func (e *TransformError) Unwrap() error { return e.Cause }

// encodeItems makes of the items of a state those of a snapshot. An item that could not be decoded is kept as it
// is. The error is that of the first that cannot be written; the rest is then left out.
func (j *Journal) encodeItems(items func(yield func(Item) bool) error) func(yield func(Item) bool) error {
	if j.o.Transformer == nil {
		return items
	}
	return func(yield func(Item) bool) error {
		var unwritable error
		err := items(func(i Item) bool {
			if i.Err != nil {
				return yield(i)
			}
			if unwritable = j.checkWrite(i.Key); unwritable != nil {
				return false
			}
			i.Value = j.encodeAppend(nil, Place{Key: i.Key, Revision: i.Revision}, i.Value)
			return yield(i)
		})
		return cmp.Or(unwritable, err)
	}
}

// decodeItem decodes an item, or says in it why that is not possible.
func (j *Journal) decodeItem(i *Item) error {
	var err error
	i.Value, i.Err, err = j.decode(Place{Key: i.Key, Revision: i.Revision}, i.Value)
	return err
}

// decodeCommit decodes a commit. If it is up to base, later states are known. Metadata that cannot be read is
// left out, and the commit says why.
func (j *Journal) decodeCommit(c *Commit, base Revision) error {
	at := Place{Key: c.Key, Revision: c.Revision, Replaced: c.Revision <= base || c.Delete}
	var err error
	if c.Value, c.Err, err = j.decode(at, c.Value); err != nil || c.Err != nil {
		c.Metadata = nil
		return err
	}
	at.Metadata, at.Replaced = true, true
	metadata, unreadable, err := j.decode(at, c.Metadata)
	if c.Metadata = metadata; unreadable != nil {
		c.Metadata, c.Err = nil, unreadable
	}
	return err
}

// decode answers a value or, with the reason, what is stored of one that cannot be read. err says that it may be
// readable later, so that the caller must not go on without it.
func (j *Journal) decode(at Place, stored []byte) (value []byte, unreadable, err error) {
	if j.o.Transformer == nil || len(stored) == 0 {
		return stored, nil, nil
	}
	value, fault := j.o.Transformer.Decode(at, stored)
	switch {
	case fault == nil:
		return value, nil, nil
	case errors.Is(fault, ErrUnavailable):
		return stored, nil, fmt.Errorf("%s: %w", at, fault)
	}
	return stored, fault, nil
}
