// Package impersonation implements user impersonation.
//
// A Request holds the requested user, read from the headers. An Impersonator authorizes it. The
// headers, whose names are case-insensitive:
//
//	Impersonate-User          once: a name, or system:serviceaccount:<namespace>:<name>
//	Impersonate-Group         any number of times
//	Impersonate-Uid           once
//	Impersonate-Extra-<key>   any number of times; the key is percent-encoded and in lower case
//
// Each part needs the verb impersonate with the value as object name: on users, groups or
// serviceaccounts of the core group, or on uids or userextras/<key> of the authentication group.
// The resulting user has the requested groups; a service account without any has its own two. All
// but system:anonymous also get system:authenticated, unless it or system:unauthenticated is
// requested; system:anonymous gets system:unauthenticated.
//
// Invariants: headers without a user, or with an empty or second one, are refused, not ignored; all
// parts are authorized before any applies; nothing of the caller's identity carries over.
package impersonation
