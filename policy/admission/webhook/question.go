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

// A question is an AdmissionReview request. A v1 response must repeat its UID and apiVersion.
type question struct {
	uid        string
	apiVersion string
	body       []byte
}

const reviewKind = "AdmissionReview"

// newQuestion returns a review request in the given version with a new UID. It splices separately
// encoded objects into the JSON, which is much faster than encoding one tree.
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

func appendObject(b []byte, k *schema.Kind, object tree.Tree) []byte {
	if object == nil {
		return append(b, `null`...)
	}
	return append(b, encode(k, object)...)
}

func encode(k *schema.Kind, object tree.Tree) []byte {
	encoded := codec.EncodeJSON(k, object)
	version, err := strconv.ParseUint(object.Object("metadata").String("resourceVersion"), 10, 64)
	if err != nil || version == 0 {
		return encoded.Unversioned()
	}
	return encoded.WithVersion(version)
}
