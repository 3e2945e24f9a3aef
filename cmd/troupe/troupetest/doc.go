// Package troupetest starts API servers in tests of Go programs.
//
// Start runs the real API server in the test's process, over HTTPS on a free loopback port, with
// all state in memory. It starts in a few milliseconds, so each test can have one, even in
// parallel. It stops at the end of the test.
//
//	func TestController(t *testing.T) {
//		server := troupetest.Start(t, troupetest.WithFiles("config/crd", "testdata/objects.yaml"))
//		// server.Kubeconfig() goes to any client library, server.Client() to any HTTP request.
//	}
//
// # Built-in behavior
//
// By default the server uses Kubernetes names and behaves like a bare kube-apiserver. In addition,
// deleted namespaces are emptied and garbage is collected. Nothing else happens by itself:
// Deployments create no Pods and namespaces get no service accounts, so the admission plugin
// ServiceAccount is off. WithControllers enables or disables single controllers.
//
// # Users
//
// A Server has the credentials of its administrator, a member of system:masters. Server.User
// creates credentials of other users, which are subject to RBAC.
//
// # Leaks
//
// A server releases its resources when it ends. One goroutine per process remains, in which the
// HTTP library updates the Date header. Tell goleak to ignore it:
//
//	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"))
//
// # Logs
//
// The server's log, up to its last MiB, becomes part of a failed test's log.
package troupetest
