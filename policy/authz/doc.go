// Package authz decides whether a user may do what is asked.
//
// The nouns: Attributes say who asks for what, an Authorizer is one mode of deciding, a
// Decision is its answer. A Reviewer tells clients what would be decided; a Lister, which
// some Authorizers are, lists what it allows. Authorizers are asked in order; the first
// that allows or denies has decided, and what nobody allows is refused.
//
// Invariant: Attributes are made once per request, from the same parsed request that
// routes it.
package authz
