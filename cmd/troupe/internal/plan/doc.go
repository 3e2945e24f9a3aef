// Package plan checks manifests against a real API server, without a cluster.
//
// Run starts an ephemeral daemon in this process, which begins empty, with a copy of a backup or
// data directory, or with the relevant objects of a live server (live.go). It applies all objects
// in dependency order (order.go), so that definitions, policies and webhooks in the input take
// effect. Nothing outside the process is written.
//
// The Report has a Finding per cause, with file and line, and the action per object. write.go
// writes it as text, JSON, SARIF or JUnit.
//
// An object with unknown or mistyped fields is applied again without them, so that its other errors
// are found as well and dependent objects do not fail.
package plan
