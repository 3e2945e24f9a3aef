package codec

import (
	"bytes"
	"strconv"
)

// slotName comes before the digits of the version. Of metadata only names and the uid
// stand before it, which hold no quotes.
var slotName = []byte(`"resourceVersion":"`)

// WithoutVersion is an object's JSON as it was before its version was put in; it shares
// nothing with json.
func WithoutVersion(json []byte) Encoded {
	slot := bytes.Index(json, slotName) + len(slotName)
	rest := json[slot+bytes.IndexByte(json[slot:], '"'):]
	bare := make([]byte, 0, slot+len(rest))
	return Encoded{JSON: append(append(bare, json[:slot]...), rest...), Slot: slot}
}

// WithVersion is the object's JSON under a version.
func (e Encoded) WithVersion(version uint64) []byte {
	var digits [20]byte
	d := strconv.AppendUint(digits[:0], version, 10)
	out := make([]byte, 0, len(e.JSON)+len(d))
	out = append(append(out, e.JSON[:e.Slot]...), d...)
	return append(out, e.JSON[e.Slot:]...)
}
