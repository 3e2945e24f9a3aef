// Package rbac authorizes by roles. RoleBindings and ClusterRoleBindings grant the rules of Roles
// and ClusterRoles to users, groups and service accounts.
//
// A rule allows verbs on resources or paths. A role holds the compiled rules of one object. It is
// in a roleEntry, which also exists while the role is missing. A binding has one grant per subject.
// The Authorizer decides by an index, which watches the stored objects and maps subjects to grants.
// Escalation is the admission plugin that keeps users from granting rights that they do not hold.
// Reconcile creates and repairs the default roles and bindings.
//
// A service account is the user "system:serviceaccount:<namespace>:<name>". Grants point to the
// roleEntry, so that a changed role takes effect at once. A changed binding affects only its own
// subjects.
//
// # Invariants
//
//   - Decisions depend only on stored objects, and rules only add rights.
//   - A rule with resource names never matches a request without a name: list, watch,
//     deletecollection or create.
//   - A decision holds the read lock of the index. It does not allocate when it allows a request.
//     The write lock is held only while maps change, not while objects are decoded.
package rbac
