package troupetest_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/troupetest"
)

const exampleMaps = "/api/v1/namespaces/default/configmaps"

func ExampleStart() {
	t, end := exampleTest() // in a test, t is its parameter
	defer end()

	server := troupetest.Start(t)
	fmt.Println(status(server.Client(), "POST", server.URL+exampleMaps, `{"metadata":{"name":"greeting"},"data":{"text":"hello"}}`))
	fmt.Println(status(server.Client(), "GET", server.URL+exampleMaps+"/greeting", ""))
	// Output:
	// 201 Created
	// 200 OK
}

func ExampleServer_User() {
	t, end := exampleTest()
	defer end()

	server := troupetest.Start(t)
	jane := server.User("jane", "developers")
	fmt.Println(status(jane.Client(), "GET", server.URL+"/api/v1/namespaces/default/secrets", ""))
	// Output: 403 Forbidden
}

// ExampleFork prepares a server once. Each case changes a copy of it.
func ExampleFork() {
	t, end := exampleTest()
	defer end()

	base := troupetest.Start(t)
	fmt.Println(status(base.Client(), "POST", base.URL+exampleMaps, `{"metadata":{"name":"fixture"}}`))
	for range 2 {
		server := troupetest.Fork(t, base)
		fmt.Println(status(server.Client(), "DELETE", server.URL+exampleMaps+"/fixture", ""))
	}
	// Output:
	// 201 Created
	// 200 OK
	// 200 OK
}

func ExampleServer_Changes() {
	t, end := exampleTest()
	defer end()

	server := troupetest.Start(t)
	changes := server.Changes(t, troupetest.OfKinds("ConfigMap"), troupetest.InNamespaces("default"))
	status(server.Client(), "POST", server.URL+exampleMaps+"?fieldManager=shop", `{"metadata":{"name":"settings"},"data":{"color":"red"}}`)
	status(server.Client(), "PATCH", server.URL+exampleMaps+"/settings?fieldManager=shop", `{"data":{"color":"blue"}}`)
	fmt.Println(changes.Next(t.Context()).Verb)
	for _, change := range changes.Committed() {
		fmt.Println(change.Verb, change.Kind, change.Name, "by", change.Manager, "from", change.Previous["data"], "to", change.Object["data"])
	}
	// Output:
	// create
	// update ConfigMap settings by shop from map[color:red] to map[color:blue]
}

// ExampleServer_ExpectNoWrites checks that an apply that changes nothing is not stored.
func ExampleServer_ExpectNoWrites() {
	t, end := exampleTest()
	defer end()

	server := troupetest.Start(t)
	apply := func() {
		fmt.Println(status(server.Client(), "APPLY", server.URL+exampleMaps+"/settings?fieldManager=shop", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"color":"red"}}`))
	}
	apply()
	server.ExpectNoWrites(t, apply, troupetest.OfKinds("ConfigMap"), troupetest.InNamespaces("default"))
	// Output:
	// 201 Created
	// 200 OK
}

// ExampleWithFaults lets the first update fail with a conflict, to test a retry.
func ExampleWithFaults() {
	t, end := exampleTest()
	defer end()

	server := troupetest.Start(t, troupetest.WithFaults(troupetest.Fault{
		Effect: "Conflict", Verbs: []string{"update"}, Resources: []string{"configmaps"}, Count: 1,
	}))
	fmt.Println(status(server.Client(), "POST", server.URL+exampleMaps, `{"metadata":{"name":"settings"}}`))
	for range 2 {
		fmt.Println(status(server.Client(), "PUT", server.URL+exampleMaps+"/settings", `{"metadata":{"name":"settings"}}`))
	}
	// Output:
	// 201 Created
	// 409 Conflict
	// 200 OK
}

// status sends a request and returns the status of the response.
func status(c *http.Client, method, url, body string) string {
	kind := "application/json"
	switch method {
	case "PATCH":
		kind = "application/merge-patch+json"
	case "APPLY":
		method, kind = "PATCH", "application/apply-patch+yaml"
	}
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	r.Header.Set("Content-Type", kind)
	answer, err := c.Do(r)
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	return answer.Status
}

// An exampleTB stands in for the parameter of a test, which an example does not have. It prints
// failures.
type exampleTB struct {
	testing.TB
	ctx      context.Context
	cleanups []func()
}

func exampleTest() (t testing.TB, end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	x := &exampleTB{ctx: ctx}
	return x, func() {
		cancel()
		for _, cleanup := range slices.Backward(x.cleanups) {
			cleanup()
		}
	}
}

func (x *exampleTB) Helper()                           {}
func (x *exampleTB) Context() context.Context          { return x.ctx }
func (x *exampleTB) Cleanup(f func())                  { x.cleanups = append(x.cleanups, f) }
func (x *exampleTB) Failed() bool                      { return false }
func (x *exampleTB) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (x *exampleTB) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
