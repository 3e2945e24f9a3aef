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

// reviewVersions are the versions of the ConversionReview that are known here.
var reviewVersions = []string{"v1", "v1beta1"}

// A question is the ConversionReview that a webhook is sent.
type question struct {
	uid           string
	reviewVersion string
	apiVersion    string // of the review
	target        *schema.Kind
	objects       []*meta.Object
	from          string // the apiVersion of the first object
	body          []byte
}

// newQuestion makes the question what a kind shows of objects.
//
// The first version of the review that the definition names and this server knows is used: the order is the author's
// preference. The body is put together from the JSON of the objects as they are stored, and not from trees, since
// that is most of the work of a long list.
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
		// An object may have been stored under an older schema of its version. The webhook gets it as its version
		// shows it now.
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

// fromVersion is the version of the first object, without its group. Objects of a list may have been written in
// different versions; one is enough for a metric.
func (q *question) fromVersion() string {
	_, version, _ := strings.Cut(q.from, "/")
	return version
}

// subject is what the question is about, as messages say it.
func (q *question) subject() string {
	kind := q.target.Kind
	if len(q.objects) > 1 {
		kind = q.target.ListKind()
	}
	return q.from + ", Kind=" + kind
}
