// Package admission selects the plugins that mutate or reject writes, by resource, user and
// namespace.
//
// A Registration holds the name, resources, operations and users of a plugin. A Chain holds the
// plugins of one server in the order of plugins.yaml. Plugins implement the Mutator and Validator
// of package request, which runs them in one of several stages (request.Stage).
//
// The server's own writes skip admission. Writes of its controllers on behalf of users pass through
// admission with a separate user.
//
// A plugin sees every write of a resource, regardless of verb, format and version. It must not
// retain the Attributes and may change only New.
package admission
