// Package impersonation implements user impersonation.
//
// A Request holds the requested user, read from the request headers. An Impersonator authorizes it.
// Header names are case-insensitive:
//
//	Impersonate-User          once: a name, or system:serviceaccount:<namespace>:<name>
//	Impersonate-Group         any number of times
//	Impersonate-Uid           once
//	Impersonate-Extra-<key>   any number of times; the key is percent-encoded and in lower case
//
// The first mode that allows the request decides:
//
//	associated-node   a node, by a service account of a Pod on it
//	arbitrary-node    a node
//	serviceaccount    a service account
//	user-info         any other user, with groups except system:masters, uid and extras
//	legacy            any user
//
// A mode requires the verb impersonate:<mode> on an object for each header value, and
// impersonate-on:<mode>:<verb> for the request itself. The objects are in the authentication group:
// users, nodes, serviceaccounts, groups, uids and userextras/<key>. The legacy mode requires only
// the verb impersonate. Its users, groups and serviceaccounts are in the core group.
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
