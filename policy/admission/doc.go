// Package admission selects the plugins that change or refuse what users write, by resource, user and
// namespace.
//
// A Registration says under which name, and for which resources, operations and users, a plugin runs. A
// Chain is the plugins of one server, in the order of one table (names.go). The plugins themselves are
// Mutators and Validators of package request, which also runs them: see request.Stage for where.
//
// What the server writes for itself is not admitted. What its controllers write for users is, for a user
// of its own.
//
// Invariants: a plugin sees every way to write a resource, whatever the verb, the format or the
// version. It keeps nothing of the Attributes, and changes nothing but their New.
package admission
