// Package rbac implements role-based access control. RoleBindings and ClusterRoleBindings grant the
// rules of Roles and ClusterRoles to users, groups and service accounts.
//
// A rule allows verbs on resources or paths. A role holds the compiled rules of one object. A
// roleEntry refers to a role, which may not exist yet. A binding has one grant per subject. The
// Authorizer looks up grants by subject in an index, which is updated by watch events. Escalation
// is the admission plugin that keeps users from granting rights that they do not hold. Reconcile
// creates and repairs the default roles and bindings.
//
// A service account is the user "system:serviceaccount:<namespace>:<name>". Grants point to the
// roleEntry, so that a changed role takes effect immediately. A changed binding affects only its
// own subjects.
//
// # Invariants
//
//   - Decisions depend only on stored objects, and rules only add rights.
//   - A rule with resource names never matches a request without a name: list, watch,
//     deletecollection or create.
//   - A decision holds the index's read lock. Allowing a request does not allocate. The write
//     lock is held only while maps change, not while objects are decoded.
package rbac
