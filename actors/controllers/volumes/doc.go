// Package volumes binds claims to volumes that exist or that external provisioners create.
//
//	Binder     binds PersistentVolumeClaims to PersistentVolumes and maintains the phases of both
//	Ephemeral  creates the claims of Pods with ephemeral volumes
//
// A binding is a pair of references, spec.claimRef of the volume and spec.volumeName of the claim.
// It takes four writes: the reference and the phase Bound of the volume, and then the same of the
// claim. The process may end after each of them. The references, with the uid in spec.claimRef,
// show what is missing.
package volumes
