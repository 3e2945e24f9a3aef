// Package plan checks manifests against a real API server, without a cluster.
//
// Run starts an ephemeral daemon in this process. The daemon begins empty, with a copy of a backup
// or data directory, or with the relevant objects of a live server (live.go). Run applies all
// objects in dependency order (order.go), so that CRDs, policies and webhooks in the input take
// effect. It writes nothing outside the process.
//
// The Report contains a Finding per problem and the action per object.
//
// An object with unknown or mistyped fields is applied again without them. This finds its other
// errors too, and dependent objects do not fail.
package plan
