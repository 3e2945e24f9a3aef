// Package history stores the template revisions of StatefulSets and DaemonSets as
// ControllerRevisions.
//
// The data of a revision is a strategic merge patch that restores its template,
// {"spec":{"template":{"$patch":"replace",…}}}. Clients that undo a rollout expect this form.
// Revisions are equal if their data is equal as canonical JSON. A revision's name ends with a hash
// of its data.
package history
