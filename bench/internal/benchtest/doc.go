// Package benchtest has a small server for the tests of the bench: ConfigMaps and namespaces in
// memory, with lists, patches and watches, over TLS. Start serves it in the process of the test; Main
// lets the test binary stand in for the processes that the bench starts.
//
// Tests of the harness check what it counts and writes, not how fast a server is. The fake answers at once,
// fails when it is told to, and has no more of the conventions than the workloads use: it validates
// nothing, knows one version, and keeps its whole history. It is no second server to compare with.
package benchtest
