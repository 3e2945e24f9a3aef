// Package troupetest has the examples of the main module's package of that name for client-go and controller-runtime, which
// that module does not depend on. They run as tests.
package troupetest
