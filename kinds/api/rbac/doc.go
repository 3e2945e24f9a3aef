// Package rbac validates and defaults roles and bindings. Package policy/authz/rbac evaluates them.
package rbac
