package persist

import (
	"cmp"
	"errors"
	"fmt"
)

// A Place is the location of a stored value. A Transformer binds values to their places, so that a
// moved value cannot be read.
type Place struct {
	Key      string
	Revision Revision
	// Metadata means the metadata of a write instead of its value.
	Metadata bool
	// Replaced means that a later state of the key is known, so the value is only history. Values
	// are not bound to it.
	Replaced bool
	// Unversioned means that the store assigns revisions only after the value was written. The
	// value is not bound to Revision, which is then that of the newest earlier write.
	Unversioned bool
}

// String returns the place as messages name it.
func (p Place) String() string {
	what := "the value"
	if p.Metadata {
		what = "the metadata"
	}
	return fmt.Sprintf("%s of %q at revision %d", what, p.Key, p.Revision)
}

// A Transformer changes values on their way to the disk and back, as encryption does. Its output is
// opaque to the log.
type Transformer interface {
	// Transforms reports whether values of a key may be stored in another form.
	Transforms(key string) bool
	// Check returns the reason why a value of a key cannot be written now, or nil if Encode can.
	Check(key string) error
	// Encode appends the stored form of a value. It must not fail right after Check has returned
	// nil.
	Encode(b []byte, at Place, value []byte) []byte
	// Decode returns the value of a stored form. ErrUnavailable is temporary; any other error means
	// that the value cannot be read.
	Decode(at Place, stored []byte) ([]byte, error)
}

func (j *Journal) encodeAppend(b []byte, at Place, value []byte) []byte {
	if j.o.Transformer == nil || len(value) == 0 {
		return append(b, value...)
	}
	return j.o.Transformer.Encode(b, at, value)
}

func (j *Journal) checkWrite(key string) error {
	if j.o.Transformer == nil {
		return nil
	}
	if err := j.o.Transformer.Check(key); err != nil {
		return &TransformError{Key: key, Cause: err}
	}
	return nil
}

// A TransformError refuses a write whose value cannot be transformed, for example because the key
// management service is unreachable. Other writes of the batch are not affected.
type TransformError struct {
	Key   string
	Cause error
}

func (e *TransformError) Error() string {
	return fmt.Sprintf("%q cannot be stored: %v", e.Key, e.Cause)
}

func (e *TransformError) Unwrap() error { return e.Cause }

// encodeItems turns the items of a state into those of a snapshot. Items that could not be decoded
// are kept as stored. The first item that cannot be encoded ends the iteration.
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

func (j *Journal) decodeItem(i *Item) error {
	var err error
	i.Value, i.Err, err = j.decode(Place{Key: i.Key, Revision: i.Revision}, i.Value)
	return err
}

// Commits up to base have later states. Unreadable metadata is dropped, with the reason in c.Err.
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

// decode returns a value, or the stored bytes of an unreadable value with the reason. err means
// that it may be readable later, so the caller must not continue without it.
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
