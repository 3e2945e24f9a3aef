// Package rbac decides by roles: what the Roles and ClusterRoles allow that RoleBindings and
// ClusterRoleBindings give to a user, to a group or to a service account.
//
// A rule allows verbs on resources or on paths; a role is the compiled rules of one object, kept in
// a roleEntry that outlives it; a binding gives a role to subjects, and is one grant for each of
// them; the index finds the grants of a subject in a namespace. The
// Authorizer answers from the index, which follows the stored objects. Escalation is
// the admission of roles and bindings: nobody hands out more than they hold. A
// defaultRole is one that every cluster has; Reconcile makes these and their bindings, and repairs them.
//
// The index holds, by subject, the grants for the whole cluster and those of each namespace. A
// service account is the user of its name, "system:serviceaccount:<namespace>:<name>". Grants
// point to the entry of their role, so that a change of a role is one store whatever is bound to
// it, and a change of a binding touches its own subjects.
//
// Invariants: what is decided comes from stored objects and nothing else; rules only add to
// each other; resource names never allow what has no name, be it a list, a watch, the delete of
// a collection or a create; a decision holds the lock of the index for reading, allocates
// nothing when it allows, and the lock is held for writing only while maps are changed, never
// while an object is read.
package rbac
