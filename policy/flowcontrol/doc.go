// Package flowcontrol decides which requests are served now, which wait, and which are refused, as the objects FlowSchema
// and PriorityLevelConfiguration say: API priority and fairness.
//
// Its nouns:
//
//	Controller      follows the objects and holds the configuration that is made of them
//	schema          a FlowSchema: which requests, and the priority level that serves them
//	classifier      finds the schema of a request
//	flow            the requests of a schema that have the same user, or namespace
//	seat            what a request occupies while it is served; a large one occupies several
//	level           a priority level: its seats, its queues, and who occupies and waits for them
//	Request         one request on its way through a level
//
// # The seats
//
// The server has as many seats as requests may be in flight. Each level gets a part of them by its shares, of which it
// lends some (lower) and beyond which it may borrow some (upper). Every ten seconds the current limits are set anew, by
// what each level could have used since (borrowing.go). Exempt levels take as many as they need.
//
// # The queues
//
// A flow has a hand of a level's queues, dealt by its hash (shuffle sharding), and each request goes to the one of them
// with the least work. So a flow that sends too much fills its own hand, and another flow has most likely a
// queue that is free.
//
// Seats that are free go to the queue whose first request would finish first if all queues were served evenly at the same time (fair queuing). Virtual
// time R counts the seat-seconds that a queue has had the chance to use. A queue's own clock is set to R when it becomes
// active, moves by the estimated work of each request that is dispatched, and is corrected by the work that it really was.
// Of equal queues the one comes first that was served longest ago.
//
// # What always holds
//
//   - A request that was admitted occupies its seats until Finish, however it ends; the extra seats of a write that many
//     watch stay occupied a little longer.
//   - Nobody waits longer than it was said, nor in a queue that is full. Only queues in use exist in memory, so what a level takes
//     is bounded by the requests that wait, and never by its configuration.
//   - A level that is no longer configured serves what it has let in, and goes when that is done.
//   - exempt and catch-all are always there.
//   - Classification reads an immutable configuration and waits for nobody; a level has one lock, held for a few hundred
//     nanoseconds.
package flowcontrol
