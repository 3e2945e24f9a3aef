// Package benchtest has a small server for the tests of the bench: ConfigMaps and namespaces in
// memory, with lists, patches and watches, over TLS. Start serves it in the process of the test; Main
// lets the test binary stand in for the processes that the bench starts.
package benchtest
