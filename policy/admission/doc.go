// Package admission selects the plugins that mutate or reject writes, by resource, user and
// namespace.
//
// A Chain contains the Registrations of a server's plugins in the order of plugins.yaml. Plugins
// implement the Mutator and Validator interfaces of package request, which runs each plugin in its
// stage (request.Stage).
//
// The server's own writes skip admission. Writes that its controllers make for users pass through
// admission under a separate user.
//
// A plugin sees every write of a resource, regardless of verb, format and version. It must not
// retain the Attributes and may change only New.
package admission
