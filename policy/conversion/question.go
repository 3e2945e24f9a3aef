package conversion

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

const reviewKind = "ConversionReview"

var reviewVersions = []string{"v1", "v1beta1"}

type question struct {
	uid           string
	reviewVersion string
	apiVersion    string // apiVersion of the review
	target        *schema.Kind
	objects       []*meta.Object
	from          string // apiVersion of the first object
	body          []byte
}

// newQuestion builds the request that converts objects to kind k.
//
// It uses the CRD's first review version that this server supports. It builds the body from stored
// JSON, because encoding trees would dominate the cost of long lists.
func newQuestion(k *schema.Kind, objects []*meta.Object, naming *meta.Naming) (*question, error) {
	q := &question{uid: uuid.NewString(), target: k, objects: objects, from: convert.WrittenVersion(objects[0])}
	for _, version := range k.ConversionWebhook().ReviewVersions {
		if q.reviewVersion == "" && slices.Contains(reviewVersions, version) {
			q.reviewVersion = version
		}
	}
	if q.reviewVersion == "" {
		return nil, errors.New("no supported conversion review versions")
	}
	q.apiVersion = naming.Group("apiextensions") + "/" + q.reviewVersion
	b := append([]byte(`{"kind":"`+reviewKind+`","apiVersion":"`), q.apiVersion...)
	b = append(b, `","request":{"uid":"`+q.uid+`","desiredAPIVersion":`...)
	b = codec.AppendAny(b, k.APIVersion())
	b = append(b, `,"objects":[`...)
	for i, o := range objects {
		if convert.WrittenForm(k, o) == nil {
			return nil, fmt.Errorf("request to convert CR from an invalid group/version: %s", convert.WrittenVersion(o))
		}
		// Convert the object to its version's current schema, which may differ from the schema
		// under which it was written.
		conformed, err := convert.ToCurrentSchema(k, o)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, conformed.JSON...)
	}
	q.body = append(b, `]}}`...)
	return q, nil
}

// fromVersion returns the version of the first object, even for a list.
func (q *question) fromVersion() string {
	_, version, _ := strings.Cut(q.from, "/")
	return version
}

func (q *question) subject() string {
	kind := q.target.Kind
	if len(q.objects) > 1 {
		kind = q.target.ListKind()
	}
	return q.from + ", Kind=" + kind
}
