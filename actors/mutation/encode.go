package mutation

import (
	"bytes"
	"net/http"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// DefaultMaxBytes is how many bytes of data an object may have by default. It is 1.5 MiB, what other
// servers of this API take.
const DefaultMaxBytes = 3 << 19

// encode encodes the new state. It refuses one that is too large, which is found while it is being written,
// and one that recovery could not read again. Reading back what was written costs little beside the write,
// and a state that recovery cannot read would be lost.
func (e *Env) encode(cur State, m *request.Mutation, object tree.Tree) (codec.Encoded, error) {
	stored := m.Kind.Stored
	limit := e.maxDataBytes(cur, m)
	encoded, ok := codec.EncodeWithin(stored, object, 2*limit)
	if !ok {
		return encoded, meta.NewTooLarge("an object may have %d bytes as JSON, in which escapes and managedFields count", 2*limit)
	}
	if len(encoded.JSON) > limit && dataSize(encoded.JSON) > limit {
		return encoded, meta.NewTooLarge("an object may have %d bytes of data beside its managedFields", limit)
	}
	if err := codec.ReadBack(stored, m.Key, encoded.JSON); err != nil {
		return encoded, &meta.Status{
			Code: http.StatusInternalServerError, Reason: meta.ReasonInternalError, Details: &meta.Details{},
			Message: "Internal error occurred: the object is not stored, because it could not be read again: " + err.Error(),
		}
	}
	return encoded, nil
}

// maxDataBytes is how many bytes of data the new state may have. An object that was stored when the limit
// was higher can stay as large as it is, and can be deleted. A limit that is lowered must not make objects
// immortal.
func (e *Env) maxDataBytes(cur State, m *request.Mutation) int {
	limit := e.MaxBytes
	if limit <= 0 {
		limit = DefaultMaxBytes
	}
	if cur.Object == nil {
		return limit
	}
	had := len(cur.Object.JSON)
	if request.Is[request.Delete](m) {
		const mark = 1024 // bytes of metadata that mark a deletion
		had += mark
	}
	return max(limit, had)
}

// dataSize is about how large an object is to its users: without managedFields, and with one byte for each
// character that JSON escapes for HTML. Users cannot know how large managedFields are, and should not be
// refused for them.
func dataSize(json []byte) int {
	size := len(json) - codec.ManagedFieldsSize(json)
	for _, escape := range []string{`\u003c`, `\u003e`, `\u0026`} {
		size -= (len(escape) - 1) * bytes.Count(json, []byte(escape))
	}
	return size
}

// InForm is the candidate of an admitted and finished change in the form of another kind, in which t is what it makes of
// the object. stored is the object as it was stored before; nil if there was none.
func (p *Prepared) InForm(k *schema.Kind, t tree.Tree, c Candidate, stored *meta.Object) (Candidate, error) {
	m := *p.mutation
	m.Kind = k
	encoded, err := p.env.encode(State{Object: stored}, &m, t)
	if err != nil {
		return c, err
	}
	if stored != nil && sameBytes(stored, encoded) {
		c.Op = None
	}
	c.Tree, c.Encoded, c.Head, c.Form = t, encoded, codec.ExtractMeta(k, t), nil
	return c, nil
}
