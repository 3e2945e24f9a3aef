// Package controllers holds the controllers that are built into the server, one a file.
// A controller follows objects by a watch and brings them to where their specification
// wants them, through the same Store that requests use; it keeps no state that it could
// not gather anew. Namespaces empties namespaces that are deleted; Expiry deletes Events
// that are old; APIService makes the API itself known as a Service, once at start; Garbage
// deletes objects whose owners have gone, and finishes deletes that say what becomes of
// dependents; Aggregation fills the cluster roles that gather the rules of others, which may
// gather in turn.
//
// ServiceAccounts, Tokens and TokenSecrets keep service accounts and the Secrets with their
// tokens; TokenCleaner and BootstrapSigner look after bootstrap tokens. Their invariants: a token
// that a Secret holds is never replaced; a Secret is deleted only when the account that it names
// has gone, or is another one than its uid says, under a precondition on the Secret; a namespace
// that is being deleted gets no account.
//
// Garbage has a graph, of which uid depends on which, fed by a watch of each kind; and two
// backlogs, of dependents to be judged and of owners to be let go. Its invariants: the
// graph only says what to look at, and what is done is decided on the objects as the store
// has them, under a precondition that they are still so; an owner goes only after a look
// for its dependents in the store itself; an owner is absent if no object of its uid is at
// its name, in the namespace of the dependent or in none, and an owner of a kind that is not
// known, or a namespaced one of a dependent without a namespace, is taken to be there.
package controllers
