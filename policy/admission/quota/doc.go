// Package quota enforces ResourceQuotas and tracks their usage.
//
// An evaluator computes the usage of one resource's objects. An account holds one quota's limits,
// the usage of published objects, and the amounts held for changes in progress. A reservation holds
// the amounts of one change. The Ledger holds all accounts.
//
// # Concurrency
//
// A mutex per namespace guards its accounts. It is held only for additions and comparisons, never
// while waiting. It is taken by:
//
//	plugin    runs in the activation: rejects a change, or holds its amounts (reserve)
//	Observe   runs in a collection's publisher: atomically turns held amounts into usage;
//	          changes that skipped admission count too
//	follower  opens and closes accounts as quotas change
//	lapseDue  runs once a second: overdue terminating Pods stop counting
//
// A change passes if used + held + its amounts is within the limit. It is rejected if used + its
// amounts exceeds the limit. Otherwise the outcome depends on changes in progress, and the change
// waits (request.ContendedError). A dry run gets the same check but holds nothing. Decreases count
// when they are published.
//
// # Activation of a quota
//
// While the previous account is still enforced, changes also hold their amounts in the new account,
// and published changes queue in it. The Ledger ends an epoch to wait for earlier changes. It then
// scans a snapshot of each resource, adds the queued changes, and enforces the account. After
// another epoch, the client that wrote the quota gets the response.
//
// While a failed scan is retried, changes that would increase the usage are rejected.
//
// # Several servers
//
// If other servers write to the same log (shared.go), local state may be stale. Each change
// therefore carries guards, for the namespace's quotas and for each quota that it uses. A guard
// holds the version up to which the server had observed all changes. If another server has raised a
// guard since, the log rejects the change, and it is computed again. While a published quota is not
// in force yet, changes in its namespace wait.
//
// # Invariants
//
//   - used is always the exact sum over the published objects.
//   - No change that passed admission raises used + held above the limit.
//   - Two servers never admit changes that together exceed a limit.
package quota
