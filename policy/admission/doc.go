// Package admission completes, checks or refuses the changes that users ask for, by what they hold
// and by who asks.
//
// The nouns: a Plugin is one such concern, and Attributes are one change as it sees it; a WaitingPlugin
// asks outside, such as a webhook, and waits for the answer; a Registration says under which name, and for
// which resources, operations and users, a plugin runs; a Chain is the plugins of one server.
//
// Plugins run in the turn of the object's owner, on the state in stored form, after the object has
// been prepared and before it is validated; a Validator runs once more after that. Waiting plugins
// run outside of the turn: see request.WaitingAdmission. What the server keeps for itself is not
// admitted; what its controllers do for users is, for a user of its own.
//
// Invariants: a plugin sees every way to write a resource, whatever the verb, the format or the
// version; it keeps nothing of its Attributes, and changes nothing but their New.
package admission
