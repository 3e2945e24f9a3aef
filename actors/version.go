package actors

import (
	"bytes"
	"strconv"

	"github.com/troupe-api/troupe/kinds/meta"
)

// withVersion inserts the digits of a version into JSON that leaves them out.
func withVersion(json []byte, slot int, version uint64) []byte {
	out := make([]byte, 0, len(json)+20)
	out = append(out, json[:slot]...)
	out = strconv.AppendUint(out, version, 10)
	return append(out, json[slot:]...)
}

// slotName comes before the digits of the version. Of metadata only names and the uid
// stand before it, which hold no quotes.
var slotName = []byte(`"resourceVersion":"`)

// reversion is an object under another version.
func reversion(o *meta.Object, version uint64) *meta.Object {
	begin := bytes.Index(o.JSON, slotName) + len(slotName)
	end := begin + bytes.IndexByte(o.JSON[begin:], '"')
	bare := append(append(make([]byte, 0, len(o.JSON)), o.JSON[:begin]...), o.JSON[end:]...)
	next := *o
	next.Version, next.JSON = version, withVersion(bare, begin, version)
	return &next
}
