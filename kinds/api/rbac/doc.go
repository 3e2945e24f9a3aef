// Package rbac holds the rules of roles and bindings. Package policy/authz/rbac evaluates them.
package rbac
