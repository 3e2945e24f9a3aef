// Package rbac authorizes by roles: RoleBindings and ClusterRoleBindings grant the rules of Roles
// and ClusterRoles to users, groups and service accounts.
//
// A rule allows verbs on resources or paths. A role is the compiled rules of one object, in a
// roleEntry that outlives it. A binding consists of one grant per subject. The index maps subjects
// to their cluster-wide grants and those in each namespace; it follows the stored objects, and the
// Authorizer decides by it. Escalation is the admission plugin that keeps users from granting more
// than they hold. Reconcile creates and repairs the defaultRoles of every cluster and their
// bindings.
//
// A service account is the user "system:serviceaccount:<namespace>:<name>". Grants point to the
// entry of their role, so that a change of a role is a single store, and a change of a binding
// affects only its own subjects.
//
// # Invariants
//
//   - Decisions depend only on stored objects, and rules only add rights.
//   - Resource names never match requests without a name: list, watch, deletecollection and create.
//   - A decision holds the read lock of the index and does not allocate when it allows. The write
//     lock is held only while maps change, not while objects are decoded.
package rbac
