// Package volumes binds claims to volumes that exist or that external provisioners create.
//
// Binder      binds PersistentVolumeClaims to PersistentVolumes, and maintains the phases of both
// Ephemeral   creates the claims of Pods with ephemeral volumes
//
// A binding is a pair of references, spec.claimRef of the volume and spec.volumeName of the claim.
// It takes four writes: the volume names the claim, the volume is Bound, the claim names the
// volume, the claim is Bound. The process may end after each of them; the references, spec.claimRef
// with its uid, show what is missing.
package volumes
