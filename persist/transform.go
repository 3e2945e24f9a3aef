package persist

import (
	"cmp"
	"errors"
	"fmt"
)

// A Place is the location of a stored value. A Transformer binds each value to its place, so that a
// moved value cannot be decoded.
type Place struct {
	Key      string
	Revision Revision
	// Metadata selects the metadata of the write instead of its value.
	Metadata bool
	// Replaced means that a later write of the key exists, so the value is needed only for the
	// history. Replaced does not affect the binding.
	Replaced bool
	// Unversioned means that the store assigns the revision after encoding. Revision then holds the
	// newest earlier revision, and the value is not bound to it.
	Unversioned bool
}

// String returns the place for error messages.
func (p Place) String() string {
	what := "the value"
	if p.Metadata {
		what = "the metadata"
	}
	return fmt.Sprintf("%s of %q at revision %d", what, p.Key, p.Revision)
}

// A Transformer encodes values before they are written and decodes them when they are read, for
// example to encrypt them. The log does not interpret encoded values.
type Transformer interface {
	// Transforms reports whether the key's values may be stored in another form.
	Transforms(key string) bool
	// Check returns an error if a key's values cannot be encoded at the moment.
	Check(key string) error
	// Encode appends the stored form of a value. It must succeed if Check has just returned nil.
	Encode(b []byte, at Place, value []byte) []byte
	// Decode returns the value for its stored form. ErrUnavailable indicates a temporary failure.
	// Any other error means that the value is unreadable.
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

// A TransformError rejects a write whose value cannot be encoded, for example because the key
// management service is unreachable. Other writes of the batch are not affected.
type TransformError struct {
	Key   string
	Cause error
}

func (e *TransformError) Error() string {
	return fmt.Sprintf("%q cannot be stored: %v", e.Key, e.Cause)
}

func (e *TransformError) Unwrap() error { return e.Cause }

// encodeItems encodes a snapshot's items. Items that could not be decoded keep their stored form.
// The first encoding error ends the iteration.
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

// decodeCommit decodes value and metadata. If either is unreadable, it drops the metadata and sets
// c.Err.
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

// decode returns the decoded value, or the stored bytes and the reason if the value is unreadable.
// A non-nil err is temporary. The value may become readable later, so the caller must stop.
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
