package webhook

import (
	"strconv"

	"github.com/google/uuid"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/review"
)

// A question is the AdmissionReview that a hook is sent. An answer in v1 must repeat the uid and the
// apiVersion, or it is taken for that to another question.
type question struct {
	uid        string
	apiVersion string
	body       []byte
}

const reviewKind = "AdmissionReview"

// newQuestion makes the question about a request in a version of the review. The objects are spliced in as
// encoded text, which is much cheaper than to decode and encode them as part of the review. Each question
// has a new uid, also the second to one hook.
func newQuestion(v *review.View, version string, naming *meta.Naming) question {
	q := question{uid: uuid.NewString(), apiVersion: naming.Group("admission") + "/" + version}
	request := v.Request(naming)
	request["uid"] = q.uid
	b := append([]byte(`{"kind":"`+reviewKind+`","apiVersion":"`), q.apiVersion...)
	b = append(b, `","request":`...)
	b = codec.AppendAny(b, request)
	b = append(b[:len(b)-1], `,"object":`...)
	b = appendObject(b, v.BodyKind, v.Object)
	b = append(b, `,"oldObject":`...)
	b = appendObject(b, v.BodyKind, v.OldObject)
	q.body = append(b, `}}`...)
	return q
}

// appendObject appends an object in its kind's form, null for none.
func appendObject(b []byte, k *schema.Kind, object tree.Tree) []byte {
	if object == nil {
		return append(b, `null`...)
	}
	return append(b, encode(k, object)...)
}

// encode is an object as clients get it, with its resourceVersion, if it has one. An encoding leaves the
// version to be filled in; the object of a create has none yet.
func encode(k *schema.Kind, object tree.Tree) []byte {
	encoded := codec.EncodeJSON(k, object)
	version, err := strconv.ParseUint(object.Object("metadata").String("resourceVersion"), 10, 64)
	if err != nil || version == 0 {
		return encoded.Unversioned()
	}
	return encoded.WithVersion(version)
}
