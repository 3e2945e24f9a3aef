package api

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestNameless: a configuration for an object that is there need not name it.
func TestNameless(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	path := applyDeployment + "/d"
	s.apply(201, "one", path, deploy("d", `"replicas":2`, onePod))
	scaled := s.apply(200, "two&force=true", path+"/scale", `{"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replicas":4}}`)
	s.has(scaled, map[string]string{"metadata.name": `"d"`, "spec.replicas": "4"})
	s.has(s.apply(200, "two", path+"/status", `{"apiVersion":"apps/v1","kind":"Deployment","status":{"replicas":4}}`), map[string]string{"status.replicas": "4"})
	s.has(s.apply(200, "two", path, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{"a":"1"}}}`),
		map[string]string{"metadata.annotations.a": `"1"`, "metadata.name": `"d"`})
	s.apply(400, "two", applyDeployment+"/none", `{"apiVersion":"apps/v1","kind":"Deployment"}`)
	s.apply(400, "two", path+"/scale", `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"other"},"spec":{"replicas":4}}`)
	s.apply(404, "two", applyDeployment+"/none/scale", `{"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replicas":4}}`)
}

// TestNulls: an explicit null is a field that the applier owns and that has no value. What is owned in
// parts keeps them.
func TestNulls(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	s.create(configMaps, configMap("a", `"x":"1","y":"2"`))
	s.has(s.apply(409, "one", configMaps+"/a", configMap("a", `"x":null`)), map[string]string{"details.causes.0.field": `".data.x"`})
	s.has(s.apply(200, "one&force=true", configMaps+"/a", configMap("a", `"x":null`)), map[string]string{"data.x": `""`, "data.y": `"2"`})

	path := applyDeployment + "/d"
	first := s.apply(201, "one", path, deploy("d", `"replicas":2,"minReadySeconds":3`, onePod))
	nulls := deploy("d", `"replicas":null,"revisionHistoryLimit":null,"strategy":null,"paused":null`, `"containers":null,"hostname":null,"nodeSelector":null,"securityContext":null`)
	nulls = strings.Replace(nulls, `"name":"d"`, `"name":"d","creationTimestamp":null`, 1)
	s.has(s.apply(409, "two", path, nulls), map[string]string{
		"details.causes.0.field": `".spec.replicas"`, "details.causes.0.message": `"conflict with \"one\""`, "details.causes.1": "null"})
	s.has(s.get(path), map[string]string{"metadata.resourceVersion": valueAt(first, "metadata.resourceVersion")})
	// The default takes the place of what has no value any more.
	forced := s.apply(200, "two&force=true", path, nulls)
	s.has(forced, map[string]string{"spec.replicas": "1", "spec.revisionHistoryLimit": "10", "spec.minReadySeconds": "3",
		"spec.template.spec.containers.0.name": `"c"`, "spec.strategy.type": `"RollingUpdate"`, "metadata.creationTimestamp": valueAt(first, "metadata.creationTimestamp")})
	for _, field := range []string{`"f:paused":{}`, `"f:replicas":{}`, `"f:revisionHistoryLimit":{}`, `"f:strategy":{}`, `"f:containers":{}`, `"f:hostname":{}`, `"f:nodeSelector":{}`, `"f:securityContext":{}`} {
		if !strings.Contains(strings.Split(ownersApply(forced), "\n")[1], field) {
			t.Errorf("two does not own %s:\n%s", field, ownersApply(forced))
		}
	}
	if yaml := s.apply(200, "two", path, "# the same\n"+nulls); valueAt(yaml, "metadata.resourceVersion") != valueAt(forced, "metadata.resourceVersion") {
		t.Errorf("the same again writes:\n%s\n%s", ownersApply(forced), ownersApply(yaml))
	}
	// Given up, nulls leave nothing behind.
	s.apply(200, "two", path, deploy("d", ``, ``))
}
