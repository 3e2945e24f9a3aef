package catalog_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog/internal/catalogtest"
	"github.com/troupe-api/troupe/kinds/meta"
)

func TestReplicationController(t *testing.T) {
	k := catalogtest.CoreKind(t, meta.Platform, "ReplicationController")
	template := `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	obj := catalogtest.Named(k, catalogtest.Parse(t, `{"spec":{`+template+`}}`))
	catalogtest.Expect(t, "defaults", catalogtest.Create(k, obj), nil)
	catalogtest.EqualJSON(t, "labels", obj.Object("metadata")["labels"], `{"a":"b"}`)
	catalogtest.EqualJSON(t, "selector", obj.Object("spec")["selector"], `{"a":"b"}`)
	catalogtest.EqualJSON(t, "replicas", obj.Object("spec")["replicas"], `1`)
	catalogtest.RunCreateCases(t, k, template, []catalogtest.CreateCase{
		{Name: "nothing", Spec: `"template":null`, Want: []string{"spec.selector: Required value", "spec.template: Required value"}},
		{Name: "mismatch", Spec: `"selector":{"a":"c"}`, Want: []string{"spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"}},
		{Name: "counts", Spec: `"replicas":-1,"minReadySeconds":-1`, Want: []string{"spec.replicas: Invalid value: -1: must be greater than or equal to 0", "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"}},
		{Name: "restart", Spec: catalogtest.PodTemplateWith(`"restartPolicy":"OnFailure"`), Want: []string{`spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: "Always"`}},
	})
	catalogtest.RunSpecUpdateCases(t, k, template, []catalogtest.SpecUpdateCase{{Name: "selector", Old: ``, Now: `"selector":{"a":"c"},"template":{"metadata":{"labels":{"a":"c"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`, Want: nil}})
}
