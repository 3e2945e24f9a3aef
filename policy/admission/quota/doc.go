// Package quota enforces ResourceQuotas and tracks their usage.
//
// An evaluator computes the usage of objects of one resource. An account holds the limits of one
// quota, the published usage, and the amounts held for changes in progress. A reservation holds the
// amounts of one change. The Ledger holds all accounts.
//
// # Concurrency
//
// A mutex per namespace guards its accounts. It is held for additions and comparisons only, never
// while waiting. Its users:
//
//	plugin    runs in the activation: refuses a change, or holds what it takes (reserve)
//	Observe   runs in the publisher of a collection: turns held amounts into usage in one step;
//	          changes that skipped admission count as well
//	follower  opens and closes accounts as quotas change
//	lapseDue  runs once a second: overdue terminating Pods stop counting
//
// A change passes if used + held + its amounts is within the limit. It is refused if used + its
// amounts exceeds the limit. In between, the outcome depends on changes in progress, and the change
// waits (request.ContendedError). A dry run is checked alike but holds nothing. Decreases count
// when they are published.
//
// # Activation of a quota
//
// A new account is opened beside the one it replaces. From then on, changes hold their amounts in
// it, and observed changes queue in it. The Ledger ends an epoch: it waits until all changes that
// passed earlier, and hold nothing in the account, are stored. Then it scans a snapshot of each
// resource and adds the changes observed later. Now the account is enforced. After another epoch
// the quota is in force, and its writer gets the response.
//
// If a scan fails, the usage is unknown, and changes that take something are refused. The scan is
// retried until it succeeds or the quota changes.
//
// # Several servers
//
// Where other servers write to the same log (shared.go), local state may be stale. Each change
// carries guards: the version up to which everything had been observed, for the namespace's quotas
// and for each quota it takes from. The log rejects the change if another server has changed these
// since, and it is computed again. While a published quota is not in force yet, changes in its
// namespace wait. Clock skew between servers affects when overdue Pods stop counting.
//
// # Invariants
//
//   - used is exactly the sum over the published objects, at any time.
//   - No change that passed admission raises used + held above the limit.
//   - In namespaces without quotas, a change costs one lookup and a counter, and one comparison
//     with other servers.
//   - Two servers never admit changes that exceed a limit together.
package quota
