package codec

import (
	"bytes"
	"strconv"

	"github.com/troupe-api/troupe/kinds/jsontext"
)

// versionKey comes before the digits of the version. Before it, metadata has only names and the uid, which
// cannot hold quotes, so that searching for it finds no other text.
var versionKey = []byte(`"resourceVersion":"`)

// WithoutVersion is an object's JSON as it was before its version was put in; it shares no memory with
// json.
func WithoutVersion(json []byte) Encoded {
	offset := bytes.Index(json, versionKey) + len(versionKey)
	rest := json[offset+bytes.IndexByte(json[offset:], '"'):]
	bare := make([]byte, 0, offset+len(rest))
	return Encoded{JSON: append(append(bare, json[:offset]...), rest...), VersionOffset: offset}
}

// WithVersion is the object's JSON under a version.
func (e Encoded) WithVersion(version uint64) []byte {
	var digits [20]byte
	d := strconv.AppendUint(digits[:0], version, 10)
	out := make([]byte, 0, len(e.JSON)+len(d))
	out = append(append(out, e.JSON[:e.VersionOffset]...), d...)
	return append(out, e.JSON[e.VersionOffset:]...)
}

// managedFieldsKey comes before the managers of an object. Nothing before them in metadata has a list of
// that name, and in a string the quotes would be escaped.
var managedFieldsKey = []byte(`"managedFields":[`)

// EqualIgnoringManagedFields tells whether the JSON of an object differs from an encoding only in its
// version and its managers. Both must have managers. What is looked at first costs least: most writes change something else.
func EqualIgnoringManagedFields(json []byte, e Encoded) bool {
	oldAt, at := bytes.Index(json, managedFieldsKey), bytes.Index(e.JSON, managedFieldsKey)
	if digits := oldAt - at; at < 0 || digits < 0 || !equalButVersion(json[:oldAt], e.JSON[:at], e.VersionOffset, digits) {
		return false // what the managers are about is not even looked for
	}
	new, ok := splitManagedFields(e.JSON)
	if !ok || !bytes.HasSuffix(json, new.after) {
		return false
	}
	old, ok := splitManagedFields(json)
	return ok && bytes.Equal(old.after, new.after)
}

// equalButVersion compares what has a version of so many digits at offset with what has none.
func equalButVersion(versioned, bare []byte, offset, digits int) bool {
	return offset <= len(bare) && bytes.Equal(versioned[:offset], bare[:offset]) && bytes.Equal(versioned[offset+digits:], bare[offset:])
}

// ManagedFieldsSize is how many bytes of an object's JSON are its managers.
func ManagedFieldsSize(json []byte) int {
	c, ok := splitManagedFields(json)
	if !ok {
		return 0
	}
	return len(json) - len(c.before) - len(c.after)
}

// A managedFieldsSplit is an object's JSON before and after its managers.
type managedFieldsSplit struct{ before, after []byte }

// splitManagedFields finds the managers; ok is false if there are none.
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
