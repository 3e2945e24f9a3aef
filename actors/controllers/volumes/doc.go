// Package volumes binds claims to volumes that exist or that external provisioners create, and
// protects both from deletion.
//
//	Binder      binds PersistentVolumeClaims to PersistentVolumes and maintains their phases
//	Ephemeral   creates the claims of Pods with ephemeral volumes
//	Protection  protects bound volumes, and claims and classes in use, from deletion
//
// A binding is a pair of references: the volume's spec.claimRef and the claim's spec.volumeName.
// Binding takes four writes: the volume's reference and phase, and then the claim's reference and
// phase. The process may crash between two writes. Both references, including the uid in
// spec.claimRef, then show which writes are still missing.
package volumes
