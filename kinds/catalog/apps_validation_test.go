package catalog_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog/internal/catalogtest"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

func TestPodTemplateValidation(t *testing.T) {
	shares := `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never",` + catalogtest.InvalidPodSpec + `,"containers":[{"name":"c","image":"i"}]}}`
	always := strings.Replace(shares, `"restartPolicy":"Never",`, ``, 1)
	for _, c := range []struct {
		k           *schema.Kind
		body, fault string
	}{
		{catalogtest.CoreKind(t, meta.Platform, "PodTemplate"), always, "template"},
		{catalogtest.CoreKind(t, meta.Platform, "ReplicationController"), `"spec":{` + always + `}`, "spec.template"},
		{catalogtest.KindByGVK(t, meta.Platform, "apps", "v1", "Deployment"), `"spec":{"selector":{"matchLabels":{"a":"b"}},` + always + `}`, "spec.template"},
		{catalogtest.KindByGVK(t, meta.Platform, "batch", "v1", "Job"), `"metadata":{"uid":"u"},"spec":{` + shares + `}`, "spec.template"},
		{catalogtest.KindByGVK(t, meta.Platform, "batch", "v1", "CronJob"), `"spec":{"schedule":"@daily","jobTemplate":{"spec":{` + shares + `}}}`, "spec.jobTemplate.spec.template"},
	} {
		catalogtest.Expect(t, c.k.Kind, catalogtest.Create(c.k, catalogtest.Named(c.k, catalogtest.Parse(t, "{"+c.body+"}"))), []string{c.fault + catalogtest.InvalidPodSpecFault})
	}
}

func TestRestartPolicies(t *testing.T) {
	const at, any = "spec.template.spec.restartPolicy: ", `Unsupported value: "X": supported values: "Always", "OnFailure", "Never"`
	catalogtest.RunCreateCases(t, catalogtest.KindByGVK(t, meta.Platform, "apps", "v1", "Deployment"), catalogtest.PodTemplateSpec, []catalogtest.CreateCase{
		{Name: "none", Spec: catalogtest.PodTemplateWith(`"restartPolicy":"X"`), Want: []string{at + any, at + `Unsupported value: "X": supported values: "Always"`}}})
	catalogtest.RunCreateCases(t, catalogtest.KindByGVK(t, meta.Platform, "batch", "v1", "Job"), catalogtest.JobTemplateSpec, []catalogtest.CreateCase{
		{Name: "none", Spec: `"template":{"spec":{"restartPolicy":"X","containers":[{"name":"c","image":"i"}]}}`, Want: []string{at + any, at + `Unsupported value: "X": supported values: "OnFailure", "Never"`}}})
}

func TestWorkloadValidation(t *testing.T) {
	const low = ": Invalid value: -1: must be greater than or equal to 0"
	catalogtest.RunCreateCases(t, catalogtest.KindByGVK(t, meta.Platform, "apps", "v1", "ReplicaSet"), catalogtest.PodTemplateSpec, []catalogtest.CreateCase{
		{Name: "counts", Spec: `"replicas":-1,"minReadySeconds":-1`, Want: []string{"spec.replicas" + low, "spec.minReadySeconds" + low}}})
	catalogtest.RunCreateCases(t, catalogtest.KindByGVK(t, meta.Platform, "apps", "v1", "StatefulSet"), catalogtest.PodTemplateSpec, []catalogtest.CreateCase{
		{Name: "share", Spec: `"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"x"}}`, Want: []string{
			`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "x": a valid percent string…`,
			`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "x": cannot be 0`}}})
}
