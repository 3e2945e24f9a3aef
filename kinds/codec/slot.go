package codec

import (
	"bytes"
	"strconv"
	"unsafe"
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

// managersName comes before the managers of an object, where it has any: before them metadata has
// no other list of that name, and in a text quotes are escaped.
var managersName = []byte(`"managedFields":[`)

// SameButManagers tells whether the JSON of an object differs from an encoding in nothing but its
// version and its managers. Both have managers.
func SameButManagers(json []byte, e Encoded) bool {
	old, oldOK := cutManagers(json)
	is, ok := cutManagers(e.JSON)
	if !ok || !oldOK || !bytes.Equal(old.tail, is.tail) {
		return false
	}
	digits := len(old.head) - len(is.head)
	return digits >= 0 && bytes.Equal(old.head[:e.Slot], is.head[:e.Slot]) && bytes.Equal(old.head[e.Slot+digits:], is.head[e.Slot:])
}

// ManagersSize is how many bytes of an object's JSON are its managers.
func ManagersSize(json []byte) int {
	c, ok := cutManagers(json)
	if !ok {
		return 0
	}
	return len(json) - len(c.head) - len(c.tail)
}

// A cut is an object's JSON before and after its managers.
type cut struct{ head, tail []byte }

func cutManagers(json []byte) (c cut, ok bool) {
	at := bytes.Index(json, managersName)
	if at < 0 {
		return c, false
	}
	s := scanner{text: unsafe.String(&json[0], len(json)), pos: at + len(managersName) - 1, stored: true}
	err := s.skip()
	return cut{json[:at], json[s.pos:]}, err == nil
}
