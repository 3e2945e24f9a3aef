package codec

import (
	"bytes"
	"strconv"

	"github.com/troupe-api/troupe/kinds/jsontext"
)

// versionKey precedes the digits of the resourceVersion. The first occurrence is the right one,
// because the metadata before it contains only names and the UID, which cannot contain quotes.
var versionKey = []byte(`"resourceVersion":"`)

// WithoutVersion returns an object's JSON without its resourceVersion. The result shares no memory
// with json.
func WithoutVersion(json []byte) Encoded {
	offset := bytes.Index(json, versionKey) + len(versionKey)
	rest := json[offset+bytes.IndexByte(json[offset:], '"'):]
	bare := make([]byte, 0, offset+len(rest))
	return Encoded{JSON: append(append(bare, json[:offset]...), rest...), VersionOffset: offset}
}

// WithVersion returns the object's JSON with a resourceVersion.
func (e Encoded) WithVersion(version uint64) []byte {
	var digits [20]byte
	d := strconv.AppendUint(digits[:0], version, 10)
	out := make([]byte, 0, len(e.JSON)+len(d))
	out = append(append(out, e.JSON[:e.VersionOffset]...), d...)
	return append(out, e.JSON[e.VersionOffset:]...)
}

// managedFieldsKey precedes the managed fields. The first occurrence is the right one, because no
// earlier list in the metadata has that name and strings escape quotes.
var managedFieldsKey = []byte(`"managedFields":[`)

// EqualIgnoringVersion reports whether the JSON of an object equals e except for resourceVersion.
func EqualIgnoringVersion(json []byte, e Encoded) bool {
	at, digits := e.VersionOffset, len(json)-len(e.JSON)
	return digits >= 0 && at <= len(e.JSON) && bytes.Equal(json[:at], e.JSON[:at]) && bytes.Equal(json[at+digits:], e.JSON[at:])
}

// EqualIgnoringManagedFields reports whether the JSON of an object equals e except for
// resourceVersion and managed fields. It returns false if json or e has no managed fields.
func EqualIgnoringManagedFields(json []byte, e Encoded) bool {
	oldAt, at := bytes.Index(json, managedFieldsKey), bytes.Index(e.JSON, managedFieldsKey)
	if oldAt < 0 || at < 0 || !EqualIgnoringVersion(json[:oldAt], Encoded{e.JSON[:at], e.VersionOffset}) {
		return false // avoids the search for the end of the managed fields
	}
	new, ok := splitManagedFields(e.JSON)
	if !ok || !bytes.HasSuffix(json, new.after) {
		return false
	}
	old, ok := splitManagedFields(json)
	return ok && bytes.Equal(old.after, new.after)
}

// ManagedFieldsSize returns the size of the managed fields in an object's JSON, in bytes.
func ManagedFieldsSize(json []byte) int {
	c, ok := splitManagedFields(json)
	if !ok {
		return 0
	}
	return len(json) - len(c.before) - len(c.after)
}

type managedFieldsSplit struct{ before, after []byte }

func splitManagedFields(json []byte) (c managedFieldsSplit, ok bool) {
	at := bytes.Index(json, managedFieldsKey)
	if at < 0 {
		return c, false
	}
	s := jsontext.Over(json)
	s.Pos, s.Limit = at+len(managedFieldsKey)-1, jsontext.MaxStoredDepth
	err := s.Skip()
	return managedFieldsSplit{json[:at], json[s.Pos:]}, err == nil
}
