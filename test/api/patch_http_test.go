package api

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/transcript"
)

const (
	patchTypeStrategic = "application/strategic-merge-patch+json"
	deployments        = "/apis/apps/v1/namespaces/default/deployments"
)

func TestPatches(t *testing.T) {
	t.Parallel()
	tests := strings.Repeat(`{"op":"test","path":"/data/a","value":"1"},`, 10000)
	var doubling []string // each copies an object into itself
	for i := range 40 {
		doubling = append(doubling, fmt.Sprintf(`{"op":"copy","from":"/data","path":"/data/z%d"}`, i))
	}
	transcript.RunServer(t, "testdata/patch", nil, transcript.Options{Variables: map[string]string{
		"tests": strings.TrimSuffix(tests, ","), "doubling": strings.Join(doubling, ","),
	}})
}

// TestWrongTypes checks that the error for a strategic merge patch contains the patch but not the
// object. The message is that of k8s.io/apimachinery.
func TestWrongTypes(t *testing.T) {
	t.Parallel()
	s := client.Open(t, nil)
	s.Send(201, "POST", deployments, client.JSON, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","annotations":{"a":"hidden"}},"spec":{"selector":{"matchLabels":{"a":"b"}},
		"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"a"}]}}}}`)
	for _, patch := range []string{
		`{"metadata":{"labels":"x"}}`,
		`{"metadata":{"labels":7}}`,
		`{"metadata":{"labels":{"a":[]}}}`,
		`{"metadata":{"labels":{"a":1}}}`,
		`{"metadata":{"labels":{"a":1.5}}}`,
		`{"metadata":{"finalizers":"x"}}`,
		`{"metadata":{"finalizers":1.5}}`,
		`{"spec":{"selector":[true]}}`,
		`{"spec":{"selector":true}}`,
		`{"spec":{"replicas":"3"}}`,
		`{"spec":{"replicas":1.5}}`,
		`{"spec":{"paused":1}}`,
		`{"spec":{"paused":{}}}`,
		`{"spec":{"template":{"spec":{"nodeName":true}}}}`,
		`{"spec":{"template":{"spec":{"securityContext":"x"}}}}`,
	} {
		var object map[string]any
		if err := utiljson.Unmarshal([]byte(patch), &object); err != nil {
			t.Fatal(err)
		}
		err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, new(appsv1.Deployment))
		if err == nil {
			t.Fatalf("%s: accepted by the library", patch)
		}
		want := fmt.Sprintf(" \"\" is invalid: patch: Invalid value: %q: %s", fmt.Sprintf("%+v", object), err)
		if got := s.Send(422, "PATCH", deployments+"/a", patchTypeStrategic, patch).Object()["message"]; got != want {
			t.Errorf("%s:\n%s, want\n%s", patch, got, want)
		}
	}
	got := string(s.Send(422, "PATCH", deployments+"/a?fieldValidation=Strict", patchTypeStrategic, `{"metadata":{"other":"x"}}`).Body)
	if strings.Contains(got, "hidden") || !strings.Contains(got, "map[metadata:map[other:x]]") || !strings.Contains(got, "unknown field") {
		t.Errorf("unknown field: %s", got)
	}
}
