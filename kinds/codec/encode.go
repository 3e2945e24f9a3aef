package codec

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An Encoded is an object as clients get it, except for its resourceVersion: that is to be put in at
// VersionOffset, which is -1 for a kind without metadata.
type Encoded struct {
	JSON          []byte
	VersionOffset int
}

// Unversioned is the object without a resourceVersion: the answer to a dry run.
func (e Encoded) Unversioned() []byte {
	if e.VersionOffset < 0 {
		return e.JSON
	}
	const field = `"resourceVersion":"`
	from, to := e.VersionOffset-len(field), e.VersionOffset+1
	if e.JSON[to] == ',' {
		to++
	} else if e.JSON[from-1] == ',' {
		from--
	}
	return slices.Concat(e.JSON[:from], e.JSON[to:])
}

// buffers holds the scratch space of encoders. The result is copied out of it, so that an object takes
// just the memory that it needs for as long as it is stored.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 4096); return &b }}

// maxPooled is the largest scratch space that is kept, in bytes: a rare large object must not occupy
// memory for ever.
const maxPooled = 1 << 18

// EncodeJSON writes an object of kind k. The kind, apiVersion and resourceVersion of the tree are ignored;
// metadata is always written.
func EncodeJSON(k *schema.Kind, t tree.Tree) Encoded {
	out, _ := EncodeWithin(k, t, math.MaxInt)
	return out
}

// EncodeWithin is EncodeJSON for objects of up to limit bytes. Encoding a larger one stops early: ok is
// false.
//
// The size of a request does not bound that of the object, which grows by defaults, escapes and managers. What is
// far too large is not written to its end.
func EncodeWithin(k *schema.Kind, t tree.Tree, limit int) (out Encoded, ok bool) {
	scratch := buffers.Get().(*[]byte)
	e := encoder{b: (*scratch)[:0], versionOffset: -1, limit: limit}
	e.object(k, t)
	if ok = !e.full(); ok {
		out = Encoded{JSON: append(passing(len(e.b)), e.b...), VersionOffset: e.versionOffset}
	}
	if cap(e.b) <= maxPooled {
		*scratch = e.b
		buffers.Put(scratch)
	}
	return out, ok
}

// passing makes empty memory for n bytes that live as long as a request. Unless it is large, it has the size of a power of two, at least a
// quarter more than n: Go puts memory of one size side by side, and what is as large as an object that stays would leave a hole
// beside it.
//
// What is stored of an object is as long as the text that it comes from, but for a few bytes. With both of one size, 50,000
// objects that were created one after the other took a third more memory than they have.
func passing(n int) []byte {
	const large = 8 << 10 // from which memory is not shared by many
	if n < large {
		n = 1 << bits.Len(uint(n+n/4))
	}
	return make([]byte, 0, n)
}

// AppendValue appends the JSON form of a message.
func AppendValue(b []byte, m *schema.Message, t tree.Tree) []byte {
	e := encoder{b: b}
	if m.Custom != nil {
		e.customValue(m, t)
	} else {
		e.message(m, t)
	}
	return e.b
}

// AppendField appends the JSON form of a field's value.
func AppendField(b []byte, f *schema.Field, v any) []byte {
	e := encoder{b: b}
	e.value(f, v)
	return e.b
}

// AppendElement appends the JSON form of an element of a list or map.
func AppendElement(b []byte, f *schema.Field, v any) []byte {
	e := encoder{b: b}
	e.single(f, v)
	return e.b
}

// AppendAny appends the JSON form of a value that has no plan: one of a tree. Keys are
// sorted.
func AppendAny(b []byte, v any) []byte {
	e := encoder{b: b}
	e.any(v)
	return e.b
}
