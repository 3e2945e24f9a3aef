package api

import (
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

const onePod = `"containers":[{"name":"c","image":"i"}]`

const ownsPods = `"f:selector":{},"f:template":{"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{}}}}}`

func TestStatus(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	path := applyDeployment + "/d"
	s.apply(201, "one", path, deploy("d", `"replicas":2`, onePod))
	config := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":7},"status":{"replicas":1,"observedGeneration":1,"conditions":[{"type":"Available","status":"True"}]}}`
	after := s.apply(200, "one", path+"/status", config)
	s.has(after, map[string]string{"spec.replicas": "2", "status.replicas": "1"})
	s.owned(after, `one Apply status {"f:status":{"f:conditions":{"k:{\"type\":\"Available\"}":{".":{},"f:status":{},"f:type":{}}},"f:observedGeneration":{},"f:replicas":{}}}`,
		`one Apply {"f:spec":{"f:replicas":{},`+ownsPods+`}}`)
	// The main resource does not touch the status, whatever the body says.
	main := s.apply(200, "two", path, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"minReadySeconds":4},"status":{"replicas":9}}`)
	s.has(main, map[string]string{"status.replicas": "1", "spec.minReadySeconds": "4"})
	s.has(s.apply(409, "two", path+"/status", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"status":{"replicas":9}}`), map[string]string{
		"details.causes.0.message": `"conflict with \"one\" with subresource \"status\""`, "details.causes.0.field": `".status.replicas"`})
	gone := s.apply(200, "one", path+"/status", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"status":{"replicas":1}}`)
	s.has(gone, map[string]string{"status.conditions": "null", "status.observedGeneration": "null", "spec.replicas": "2"})
	put := s.get(path)
	put["status"] = map[string]any{"replicas": 4}
	updated := s.Send(200, "PUT", path+"/status?fieldManager=three", client.JSON, put.String()).Object()
	s.owned(updated, `one Apply {"f:spec":{"f:replicas":{},`+ownsPods+`}}`, `three Update status {"f:status":{"f:replicas":{}}}`, `two Apply {"f:spec":{"f:minReadySeconds":{}}}`)
}

// Who owns the replicas of an object conflicts with who writes its scale. The object tells of them; its
// scale does not.
func TestApplyScale(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	path := applyDeployment + "/d"
	s.apply(201, "one", path, deploy("d", `"replicas":2`, onePod))
	s.has(s.get(path+"/scale"), map[string]string{"metadata.managedFields": `null`})
	const scale = `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d"},"spec":{"replicas":`
	s.has(s.apply(409, "two", path+"/scale", scale+`3}}`), map[string]string{"details.causes.0.field": `".spec.replicas"`,
		"details.causes.0.message": `"conflict with \"one\""`})
	shared := s.apply(200, "two", path+"/scale", scale+`2}}`)
	s.owned(s.get(path), `one Apply {"f:spec":{"f:replicas":{},`+ownsPods+`}}`, `two Apply scale {"f:spec":{"f:replicas":{}}}`)
	s.has(shared, map[string]string{"kind": `"Scale"`, "metadata.managedFields": `null`})
	s.apply(200, "two&force=true", path+"/scale", scale+`3}}`)
	whole := s.get(path)
	s.owned(whole, `one Apply {"f:spec":{`+ownsPods+`}}`, `two Apply scale {"f:spec":{"f:replicas":{}}}`)
	s.has(whole, map[string]string{"spec.replicas": "3", "metadata.managedFields.1.apiVersion": `"apps/v1"`})
	put := s.Send(200, "PUT", path+"/scale?fieldManager=three", client.JSON, scale+`5}}`).Object()
	s.has(put, map[string]string{"spec.replicas": "5", "metadata.managedFields": `null`})
	s.owned(s.get(path), `one Apply {"f:spec":{`+ownsPods+`}}`, `three Update scale {"f:spec":{"f:replicas":{}}}`)
	// An apply without replicas gives them up; nobody else has them then.
	s.has(s.apply(409, "one", path, deploy("d", `"replicas":2`, onePod)), map[string]string{
		"details.causes.0.message": `"conflict with \"three\" with subresource \"scale\" using apps/v1"`})
	s.has(s.apply(200, "one", path, deploy("d", ``, onePod)), map[string]string{"spec.replicas": "5"})
}

// Who applies a scale without replicas says nothing of them, unless he did before: then they
// go. What nobody owns belongs to those before the first apply, and an update leaves it so.
func TestScaleOfNobody(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	path := applyDeployment + "/d"
	const head = `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d"}`
	const owned = `one Apply {"f:spec":{` + ownsPods + `}}`
	s.apply(201, "one", path, deploy("d", ``, onePod))
	empty := s.apply(200, "two", path+"/scale", head+`}`)
	s.has(empty, map[string]string{"spec.replicas": "1"})
	s.owned(s.get(path), `before-first-apply Update scale {"f:spec":{"f:replicas":{}}}`, owned)
	s.has(s.apply(409, "two", path+"/scale", head+`,"spec":{"replicas":3}}`), map[string]string{
		"details.causes.0.field":   `".spec.replicas"`,
		"details.causes.0.message": `"conflict with \"before-first-apply\" with subresource \"scale\" using autoscaling/v1"`})
	s.apply(200, "two&force=true", path+"/scale", head+`,"spec":{"replicas":3}}`)
	s.owned(s.get(path), owned, `two Apply scale {"f:spec":{"f:replicas":{}}}`)
	s.has(s.apply(200, "two", path+"/scale", head+`}`), map[string]string{"spec.replicas": "null"})
	s.owned(s.get(path), owned)
	s.Send(200, "PUT", path+"/scale?fieldManager=three", client.JSON, head+`,"spec":{"replicas":2}}`)
	s.has(s.get(path), map[string]string{"spec.replicas": "2"})
	s.owned(s.get(path), owned)
}

func TestOtherSubresources(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	s.create("/api/v1/namespaces/default/pods?fieldManager=one", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	s.merge("two", "/api/v1/namespaces/default/pods/p/status", `{"status":{"phase":"Running"}}`)
	o := s.get("/api/v1/namespaces/default/pods/p")
	entry := valueAt(o, "metadata.managedFields.1")
	s.has(o, map[string]string{"metadata.managedFields.1.manager": `"two"`, "metadata.managedFields.1.subresource": `"status"`})
	if valueAt(o, "metadata.managedFields.1.fieldsV1") != `{"f:status":{"f:phase":{}}}` {
		t.Errorf("the status is of %s", entry)
	}
}

// Managers of several versions of one kind own the same fields under their own names.
func TestVersions(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	config := func(version, spec string) string {
		return `{"apiVersion":"autoscaling/` + version + `","kind":"HorizontalPodAutoscaler","metadata":{"name":"h"},"spec":{"maxReplicas":5,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}` + spec + `}}`
	}
	path := func(version string) string {
		return "/apis/autoscaling/" + version + "/namespaces/default/horizontalpodautoscalers/h"
	}
	const ref = `"f:maxReplicas":{},"f:scaleTargetRef":{}`
	const newer = `"f:maxReplicas":{},"f:metrics":{},"f:scaleTargetRef":{"f:apiVersion":{},"f:kind":{},"f:name":{}}` // where the reference is no unit
	one := s.apply(201, "one", path("v1"), config("v1", `,"targetCPUUtilizationPercentage":60`))
	s.owned(one, `one Apply {"f:spec":{`+ref+`,"f:targetCPUUtilizationPercentage":{}}}`)
	metric := func(value string) string {
		return `,"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":` + value + `}}}]`
	}
	s.has(s.apply(409, "two", path("v2"), config("v2", metric("70"))), map[string]string{
		"details.causes.0.message": `"conflict with \"one\""`, "details.causes.0.field": `".spec.targetCPUUtilizationPercentage"`, "details.causes.1": "null"})
	two := s.apply(200, "two&force=true", path("v2"), config("v2", metric("70")))
	s.owned(two, `one Apply {"f:spec":{`+ref+`}}`, `two Apply {"f:spec":{`+newer+`}}`)
	s.has(s.get(path("v1")), map[string]string{"spec.targetCPUUtilizationPercentage": "70"})
	// An applier may change its version, and keeps what it has.
	moved := s.apply(200, "one", path("v2"), config("v2", metric("70")))
	s.owned(moved, `one Apply {"f:spec":{`+newer+`}}`, `two Apply {"f:spec":{`+newer+`}}`)
	s.has(s.apply(200, "two", path("v2"), config("v2", "")), map[string]string{"spec.metrics.0.resource.target.averageUtilization": "70"})
}
