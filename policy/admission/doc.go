// Package admission selects the plugins that change or refuse writes, by resource, user and
// namespace.
//
// A Registration states the name, resources, operations and users of a plugin. A Chain holds the
// plugins of one server in the order of plugins.yaml. Plugins implement the Mutator and Validator
// of package request, which runs them: see request.Stage for where.
//
// The server's own writes skip admission. Writes of its controllers on behalf of users pass it,
// with a user of their own.
//
// Invariants: a plugin sees every write of a resource, regardless of verb, format and version. It
// retains nothing of the Attributes and changes only New.
package admission
