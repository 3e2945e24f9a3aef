// Package rbac holds the rules of roles and of their bindings. What they grant is decided in the
// package of the same name below policy.
package rbac
