// Package impersonation lets users act as others, as far as they may.
//
// A Request is whom an HTTP request asks to act as, read from its headers; an Impersonator decides
// whether the caller may. The headers, whose names are not case-sensitive:
//
//	Impersonate-User          once: a name, or system:serviceaccount:<namespace>:<name>
//	Impersonate-Group         any number of times
//	Impersonate-Uid           once
//	Impersonate-Extra-<key>   any number of times; the key is percent-encoded and in lower case
//
// Each part of a Request needs the verb impersonate: on users, groups or serviceaccounts of the core
// group, on uids or userextras/<key> of the authentication group, the value being the name of the
// object. The outcome has the groups that were asked for; a service account without any has its own
// two. Everybody but system:anonymous is also in system:authenticated, unless one of the two groups
// of that sort is asked for; system:anonymous is in system:unauthenticated.
//
// Invariants: a request that asks for anything without a user, or for an empty or a second user, is
// refused instead of being done as its caller; every part is allowed to the caller before any of it
// counts; nothing of the caller's own identity goes over into the outcome.
package impersonation
