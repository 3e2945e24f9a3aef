package catalog_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog/internal/catalogtest"
	"github.com/troupe-api/troupe/kinds/meta"
)

func TestPodTemplate(t *testing.T) {
	k := catalogtest.CoreKind(t, meta.Platform, "PodTemplate")
	obj := catalogtest.Named(k, catalogtest.Parse(t, `{"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}`))
	catalogtest.Expect(t, "defaults", catalogtest.Create(k, obj), nil)
	catalogtest.EqualJSON(t, "template", obj["template"], catalogtest.DefaultedPodTemplate)
	catalogtest.Expect(t, "no containers", catalogtest.Create(k, catalogtest.Named(k, catalogtest.Parse(t, `{}`))), []string{"template.spec.containers: Required value"})
}
