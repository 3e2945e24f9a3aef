// Package troupetest starts API servers in tests of Go programs.
//
// Start gives a test a server of its own: the real one, in the process of the test, over HTTPS on a free port of the
// loopback address, with everything in memory. It is ready in a few milliseconds, so each test can have one, and any
// number of them may run at once. It is stopped at the end of the test, and leaves nothing behind.
//
//	func TestController(t *testing.T) {
//		server := troupetest.Start(t, troupetest.WithFiles("config/crd", "testdata/objects.yaml"))
//		// server.Kubeconfig() goes to any client library, server.Client() to any HTTP request.
//	}
//
// # What the server does by itself
//
// By default it serves the names that existing clients know, and does what a bare API server does: it admits, defaults,
// validates, stores and serves. Beyond that, namespaces that are deleted become empty and go, and objects whose owners have gone
// are collected, as in a cluster. Nothing else happens by itself: no Deployment gets Pods, and no namespace gets a service
// account, so the admission plugin ServiceAccount is off, and Pods need none. WithControllers switches each controller
// on or off.
//
// # Users
//
// A Server is used with the credentials of its administrator, a member of system:masters, who may do everything. Server.User
// makes credentials of other users, for whom the default roles count and those that the test makes.
//
// # Leaks
//
// What belongs to a server ends with it. One goroutine stays for the whole process, in which the HTTP library keeps the time for
// the headers of answers. Where goleak looks for leaks, it is to be told so:
//
//	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"))
//
// # Logs
//
// The server's log becomes part of the test's log if the test fails, its last MiB at most.
package troupetest
