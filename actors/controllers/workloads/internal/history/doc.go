// Package history keeps the revisions of the templates of StatefulSets and DaemonSets as ControllerRevisions.
//
// The data of a revision is a strategic merge patch that puts its template back, {"spec":{"template":{"$patch":
// "replace",…}}}, as clients that undo a rollout expect it. Two revisions are equal if their data is, the bytes of
// which are canonical JSON; the name of a revision ends with their hash.
package history
