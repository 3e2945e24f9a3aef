// Package quota enforces ResourceQuotas, and knows what of them is used.
//
// The nouns: an evaluator says what the objects of one resource use; an account is one quota, with what
// it limits, what is used of it, and what is held for changes that are on their way; a reservation is what
// one change takes of the accounts of its namespace; the Ledger has all accounts.
//
// # Who may change what
//
// The accounts of a namespace are guarded by its mutex, which is held for some additions and comparisons,
// and never while anything waits. Four come to them:
//
//	plugin    in the turn of an object's owner: refuses a change, or holds what it takes (reserve)
//	Observe   in the turn of a collection's publisher: what is published becomes used, whoever made the
//	          change; what was held for it is given back in the same step
//	follower  opens and closes accounts as quotas come, change and go
//	lapseDue  once a second: Pods that should have ended stop counting
//
// A change passes if used + held + what it takes is within the limit; it is refused if used + what it takes
// alone exceeds the limit. In between it depends on changes that are being stored, and the change waits
// until that is clear (request.ContendedError). A dry run is checked alike and holds nothing. What gives
// back counts when it is published, not before.
//
// # How a quota comes into force
//
// A new account is opened beside the one that it replaces, if any: from now on changes hold what they take
// of it, and what is observed waits in the account. An epoch ends: when all changes have been stored that were let
// pass before, and hold nothing of it, the account knows all that is under way. Then what is used is scanned, from a
// snapshot of each resource between two observations; what was observed later is added. Now the account is enforced.
// Another epoch ends: when those have been stored that were let pass before that, the quota is in force, and its
// writer is answered.
//
// If a scan fails, the account is unknown: changes that would take something of it are refused, and the scan is
// tried again after a while, until it succeeds or the quota changes.
//
// # Several servers
//
// Where others write to the same log (shared.go), what is known here may be old. Every change names the version up to which everything
// had been observed before it was looked at, with guards that the log compares: of the quotas of the namespace, and of each quota
// that it takes something of. The log refuses it if another server has changed that since, and it is computed again. While a
// quota that was published is not in force yet, changes of its namespace wait. What the clocks of servers say of Pods that should
// have ended may differ by as much as the clocks do.
//
// # Invariants
//
//   - used is the sum over the published objects, exactly, at any time.
//   - used + held never rises above the limit by a change that was asked about.
//   - A namespace without quotas costs a change one lookup and a counter, and one comparison where there are other servers.
//   - Of several servers, no two let pass what only one of them may.
package quota
