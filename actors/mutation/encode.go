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

// DefaultMaxBytes is the default limit for an object's data: 1.5 MiB, as in kube-apiserver with
// etcd.
const DefaultMaxBytes = 3 << 19

// encode encodes the new state. It rejects a state that is too large or that recovery could not
// decode.
func (e *Env) encode(cur State, m *request.Mutation, object tree.Tree) (codec.Encoded, error) {
	stored := m.Kind.Stored
	limit := e.maxDataBytes(cur, m)
	encoded, ok := codec.EncodeWithin(stored, object, 2*limit)
	if !ok {
		return encoded, meta.NewTooLarge("an object may have %d bytes as JSON, including escapes and managedFields", 2*limit)
	}
	if len(encoded.JSON) > limit && dataSize(encoded.JSON) > limit {
		return encoded, meta.NewTooLarge("an object may have %d bytes of data besides its managedFields", limit)
	}
	if err := codec.ReadBack(stored, m.Key, encoded.JSON); err != nil {
		return encoded, &meta.Status{
			Code: http.StatusInternalServerError, Reason: meta.ReasonInternalError, Details: &meta.Details{},
			Message: "Internal error occurred: the object was not stored, because it could not be read back: " + err.Error(),
		}
	}
	return encoded, nil
}

// maxDataBytes returns the data limit of the new state. If the object was stored under a higher
// limit, its current size is the limit, so that clients can still change and delete it.
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
		const mark = 1024 // bytes of the metadata that marks a deletion
		had += mark
	}
	return max(limit, had)
}

// dataSize returns the size of an object as users see it. It excludes managedFields and counts each
// HTML character that JSON escapes as one byte, because users control neither.
func dataSize(json []byte) int {
	size := len(json) - codec.ManagedFieldsSize(json)
	for _, escape := range []string{`\u003c`, `\u003e`, `\u0026`} {
		size -= (len(escape) - 1) * bytes.Count(json, []byte(escape))
	}
	return size
}

// InForm returns candidate c encoded for storage as kind k. t is the object's tree after conversion
// to k. stored is the previously stored object, or nil.
func (p *Prepared) InForm(k *schema.Kind, t tree.Tree, c Candidate, stored *meta.Object) (Candidate, error) {
	m := *p.mutation
	m.Kind = k
	encoded, err := p.env.encode(State{Object: stored}, &m, t)
	if err != nil {
		return c, err
	}
	if stored != nil && codec.EqualIgnoringVersion(stored.JSON, encoded) {
		c.Op = None
	}
	c.Tree, c.Encoded, c.Head, c.Form = t, encoded, codec.ExtractMeta(k, t), nil
	return c, nil
}
