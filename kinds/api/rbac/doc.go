// Package rbac holds the rules of roles and bindings. The package of the same name below policy
// evaluates them.
package rbac
