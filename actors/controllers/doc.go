// Package controllers holds the controllers that are built into the server, one a file. A
// controller brings objects to where their specification wants them, through the same Store
// that requests use; it keeps no state that it could not gather anew.
//
//	Namespaces        empties namespaces that are deleted
//	Garbage           deletes objects whose owners have gone, and finishes deletes that say
//	                  what becomes of dependents
//	Protection        keeps volumes that are bound, and claims that Pods use, until they are free
//	Expiry            deletes Events that are old
//	ServiceAccounts   keeps an account called default in every namespace
//	Tokens            fills Secrets with the tokens of service accounts
//	TokenSecrets      makes such a Secret for accounts that name none
//	TokenCleaner      deletes bootstrap tokens that have ended
//	BootstrapSigner   signs the public information about the cluster with bootstrap tokens
//	Aggregation       fills the cluster roles that gather the rules of others
//	APIService        makes the API itself known as a Service, once at start
//
// What they share: Follow tells an Observer of all objects of a kind and of their changes,
// whatever becomes of the watch behind it. A backlog holds what is to be done, each thing once,
// and brings back what has failed. What edit.go changes or deletes is the object as it was seen:
// if somebody else was quicker, the object is looked at again.
//
// Of the tokens: one that a Secret holds is never replaced; a Secret is deleted only when the
// account that it names has gone, or is another one than its uid says; a namespace that is being
// deleted gets no account.
//
// Of Protection: an object is noted as held before the look for its users, so that one that goes
// meanwhile brings it back.
//
// Garbage has a graph, of which uid depends on which, fed by a watch of each kind; and two
// backlogs, of dependents to be judged and of owners to be let go. Its invariants: the
// graph only says what to look at, and what is done is decided on the objects as the store
// has them; an owner goes only after a look for its dependents in the store itself; an owner is
// absent if no object of its uid is at its name, in the namespace of the dependent or in none,
// and an owner of a kind that is not known, or a namespaced one of a dependent without a
// namespace, is taken to be there.
package controllers
