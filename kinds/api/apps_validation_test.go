package api_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

func TestPodTemplateValidation(t *testing.T) {
	shares := `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never",` + InvalidPodSpec + `,"containers":[{"name":"c","image":"i"}]}}`
	always := strings.Replace(shares, `"restartPolicy":"Never",`, ``, 1)
	for _, c := range []struct {
		k           *schema.Kind
		body, fault string
	}{
		{CoreKind(t, meta.Platform, "PodTemplate"), always, "template"},
		{CoreKind(t, meta.Platform, "ReplicationController"), `"spec":{` + always + `}`, "spec.template"},
		{KindByGVK(t, meta.Platform, "apps", "v1", "Deployment"), `"spec":{"selector":{"matchLabels":{"a":"b"}},` + always + `}`, "spec.template"},
		{KindByGVK(t, meta.Platform, "batch", "v1", "Job"), `"metadata":{"uid":"u"},"spec":{` + shares + `}`, "spec.template"},
		{KindByGVK(t, meta.Platform, "batch", "v1", "CronJob"), `"spec":{"schedule":"@daily","jobTemplate":{"spec":{` + shares + `}}}`, "spec.jobTemplate.spec.template"},
	} {
		Expect(t, c.k.Kind, Create(c.k, Named(c.k, Parse(t, "{"+c.body+"}"))), []string{c.fault + InvalidPodSpecFault})
	}
}

func TestRestartPolicies(t *testing.T) {
	const at, any = "spec.template.spec.restartPolicy: ", `Unsupported value: "X": supported values: "Always", "OnFailure", "Never"`
	RunCreateCases(t, KindByGVK(t, meta.Platform, "apps", "v1", "Deployment"), PodTemplateSpec, []CreateCase{
		{Name: "none", Spec: PodTemplateWith(`"restartPolicy":"X"`), Want: []string{at + any, at + `Unsupported value: "X": supported values: "Always"`}}})
	RunCreateCases(t, KindByGVK(t, meta.Platform, "batch", "v1", "Job"), JobTemplateSpec, []CreateCase{
		{Name: "none", Spec: `"template":{"spec":{"restartPolicy":"X","containers":[{"name":"c","image":"i"}]}}`, Want: []string{at + any, at + `Unsupported value: "X": supported values: "OnFailure", "Never"`}}})
}

func TestWorkloadValidation(t *testing.T) {
	const low = ": Invalid value: -1: must be greater than or equal to 0"
	RunCreateCases(t, KindByGVK(t, meta.Platform, "apps", "v1", "ReplicaSet"), PodTemplateSpec, []CreateCase{
		{Name: "counts", Spec: `"replicas":-1,"minReadySeconds":-1`, Want: []string{"spec.replicas" + low, "spec.minReadySeconds" + low}}})
	RunCreateCases(t, KindByGVK(t, meta.Platform, "apps", "v1", "StatefulSet"), PodTemplateSpec, []CreateCase{
		{Name: "share", Spec: `"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"x"}}`, Want: []string{
			`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "x": a valid percent string…`,
			`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "x": cannot be 0`}}})
}
