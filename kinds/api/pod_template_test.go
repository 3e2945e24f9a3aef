package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestPodTemplate(t *testing.T) {
	k := CoreKind(t, meta.Platform, "PodTemplate")
	obj := Named(k, Parse(t, `{"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}`))
	Expect(t, "defaults", Create(k, obj), nil)
	EqualJSON(t, "template", obj["template"], DefaultedPodTemplate)
	Expect(t, "no containers", Create(k, Named(k, Parse(t, `{}`))), []string{"template.spec.containers: Required value"})
}
