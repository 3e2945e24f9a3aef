// Package troupetest starts API servers in tests of Go programs.
//
// Start runs the real API server in the test's process, over HTTPS on a free loopback port, with
// all data in memory. It starts in a few milliseconds, so each test can have its own server, even
// in parallel. The server stops at the end of the test.
//
//	func TestController(t *testing.T) {
//		server := troupetest.Start(t, troupetest.WithFiles("config/crd", "testdata/objects.yaml"))
//		// server.Kubeconfig() goes to any client library, server.Client() to any HTTP request.
//	}
//
// # Built-in behavior
//
// By default, the server uses Kubernetes names and behaves like a bare kube-apiserver. In addition,
// it empties deleted namespaces and collects garbage. Other controllers do not run: Deployments
// create no Pods, and namespaces get no service accounts, so the ServiceAccount admission plugin is
// disabled. WithControllers enables or disables individual controllers.
//
// # Users
//
// A Server has the credentials of its administrator, a member of system:masters. Server.User
// creates credentials for other users, which are subject to RBAC.
//
// # Changes
//
// Server.Changes yields every committed change in order, with its field manager and a diff.
// Server.ExpectNoWrites reports writes while a function runs. Server.ExpectSettled reports objects
// that one controller updates too often, and fields over which two controllers fight:
//
//	server.ExpectSettled(t, 5, func(ctx context.Context) { createObjectsAndAwaitReady(ctx) })
//
// # Faults
//
// WithFaults and Server.SetFaults inject the faults of a real API server into selected requests:
// conflicts, overload, lost responses, expired watches, stale reads. Server.Restart restarts the
// server with its state and address. Faulty responses have the header Troupe-Injected-Fault.
//
//	server := troupetest.Start(t, troupetest.WithFaults(
//		troupetest.Fault{Effect: "Conflict", Verbs: []string{"update"}, Probability: 0.2},
//		troupetest.Fault{Effect: "ExpireWatch", UserAgent: "my-controller", Events: 3},
//	))
//
// # Leaks
//
// A server releases its resources when it stops. One goroutine per process remains, in which the
// HTTP library updates the Date header. Make goleak ignore it:
//
//	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"))
//
// # Logs
//
// The log of a failed test includes the last MiB of the server's log.
package troupetest
