// Package policyobjects gives package policy access to stored objects, and tracks the version up to
// which policy has observed them.
//
// Policy uses the group names of the platform profile, and the Reader translates them to the
// server's naming profile. The Reader finds custom resources while their CRD is in effect.
//
// Reads return the newest version that the store has published. Each Inform call uses one goroutine
// for its events. It records its progress in an ObservedRevision per resource. An
// actors.ClientStore waits for this progress before it responds to a write.
package policyobjects
