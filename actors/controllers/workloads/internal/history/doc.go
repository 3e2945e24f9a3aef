// Package history keeps the template revisions of StatefulSets and DaemonSets as
// ControllerRevisions.
//
// The data of a revision is a strategic merge patch that restores its template,
// {"spec":{"template":{"$patch":"replace",…}}}, as clients that undo a rollout expect it. Revisions
// are equal if their data is equal, as canonical JSON. The name of a revision ends with the data's
// hash.
package history
