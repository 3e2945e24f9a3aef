package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestReplicationController(t *testing.T) {
	k := CoreKind(t, meta.Platform, "ReplicationController")
	template := `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	obj := Named(k, Parse(t, `{"spec":{`+template+`}}`))
	Expect(t, "defaults", Create(k, obj), nil)
	EqualJSON(t, "labels", obj.Object("metadata")["labels"], `{"a":"b"}`)
	EqualJSON(t, "selector", obj.Object("spec")["selector"], `{"a":"b"}`)
	EqualJSON(t, "replicas", obj.Object("spec")["replicas"], `1`)
	RunCreateCases(t, k, template, []CreateCase{
		{Name: "nothing", Spec: `"template":null`, Want: []string{"spec.selector: Required value", "spec.template: Required value"}},
		{Name: "mismatch", Spec: `"selector":{"a":"c"}`, Want: []string{"spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"}},
		{Name: "counts", Spec: `"replicas":-1,"minReadySeconds":-1`, Want: []string{"spec.replicas: Invalid value: -1: must be greater than or equal to 0", "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"}},
		{Name: "restart", Spec: PodTemplateWith(`"restartPolicy":"OnFailure"`), Want: []string{`spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: "Always"`}},
	})
	RunSpecUpdateCases(t, k, template, []SpecUpdateCase{{Name: "selector", Old: ``, Now: `"selector":{"a":"c"},"template":{"metadata":{"labels":{"a":"c"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`, Want: nil}})
}
