// Package volumes binds claims to volumes that exist or that external provisioners create.
//
//	Binder     binds PersistentVolumeClaims to PersistentVolumes and maintains their phases
//	Ephemeral  creates the claims of Pods with ephemeral volumes
//
// A binding is a pair of references: the volume's spec.claimRef and the claim's spec.volumeName. It
// takes four writes: the volume's reference and its phase Bound, then the claim's. The process may
// crash between two writes. Both references, including the uid in spec.claimRef, then show which
// writes are still missing.
package volumes
