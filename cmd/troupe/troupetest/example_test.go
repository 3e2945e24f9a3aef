package troupetest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/troupetest"
	"github.com/troupe-api/troupe/internal/must"
)

// ExampleStart shows a test that uses only net/http.
func ExampleStart() {
	var t *testing.T // the parameter of the test

	server := troupetest.Start(t)
	answer := must.Get(server.Client().Post(server.URL+"/api/v1/namespaces/default/configmaps", "application/json",
		strings.NewReader(`{"metadata":{"name":"greeting"},"data":{"text":"hello"}}`)))(t)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		t.Errorf("creating a ConfigMap: %s", answer.Status)
	}
}

// ExampleServer_User shows a test of another user's permissions, with CRDs and objects from files.
func ExampleServer_User() {
	var t *testing.T // the parameter of the test

	server := troupetest.Start(t, troupetest.WithFiles("config/crd", "testdata/roles.yaml"))
	jane := server.User("jane", "developers")
	answer := must.Get(jane.Client().Get(server.URL + "/api/v1/namespaces/default/secrets"))(t)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("a developer reads Secrets: %s", answer.Status)
	}
}
