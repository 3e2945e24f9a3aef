// Package volumes binds claims to volumes, as far as that needs no storage: volumes are those that exist, or that somebody else provisions.
//
// Its nouns:
//
//	Binder      binds PersistentVolumeClaims to PersistentVolumes, and keeps the phases of both
//	Ephemeral   makes the claims of Pods that have ephemeral volumes
//
// A binding is a pair of references, spec.claimRef of the volume and spec.volumeName of the claim, and is made in four writes: the volume names
// the claim, the volume is Bound, the claim names the volume, the claim is Bound. Each of them may be the last before the process ends. What it
// then finds after a restart tells what is missing, since both references name their object, and the first one its uid.
package volumes
