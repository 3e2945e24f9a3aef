// Package impersonation implements user impersonation.
//
// A Request holds the requested user, read from the request headers. An Impersonator authorizes it.
// The names of the headers are case-insensitive:
//
//	Impersonate-User          once: a name, or system:serviceaccount:<namespace>:<name>
//	Impersonate-Group         any number of times
//	Impersonate-Uid           once
//	Impersonate-Extra-<key>   any number of times; the key is percent-encoded and in lower case
//
// Each header value requires the verb impersonate on an object with that name. Its resource is
// users, groups or serviceaccounts in the core group, or uids or userextras/<key> in the
// authentication group.
//
// The impersonated user has the requested groups. A service account without requested groups has
// its own two groups. Every user except system:anonymous also gets system:authenticated, unless
// that group or system:unauthenticated is requested. system:anonymous gets system:unauthenticated.
//
// # Invariants
//
//   - Headers without a user, or with an empty or second one, are rejected rather than ignored.
//   - All values are authorized before any takes effect.
//   - The impersonated user inherits nothing from the caller.
package impersonation
