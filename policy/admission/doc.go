// Package admission has a say in changes that a user may ask for: it completes an object, or
// refuses what depends on who asks or on what the object holds.
//
// The nouns: a Plugin is one such concern; a Registration says under which name, and in
// changes of which resources, it has its say; a Chain is the plugins of one server; an Attempt
// is one change with who asks for it.
//
// Plugins run in the turn of the object's owner, on the state in stored form, after the
// object has been prepared and before it is validated. What the server does by itself is not
// admitted. Invariants: a plugin sees every way to write a resource, whatever the verb, the
// format or the version; it keeps nothing of an Attempt, and changes nothing but its New.
package admission
