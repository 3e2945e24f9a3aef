// Package flowcontrol implements API priority and fairness: FlowSchemas and
// PriorityLevelConfigurations decide which requests run, wait or are rejected.
//
//	Controller      watches the objects and holds the resulting configuration
//	schema          a FlowSchema: the requests it matches and their priority level
//	classifier      finds the schema of a request
//	flow            requests of a schema with the same user or namespace
//	seat            unit of concurrency; a large request occupies several
//	level           a priority level with its seats, queues and requests
//	Request         one request at a level
//
// # Seats
//
// The number of seats equals the server's in-flight request limit. Each level gets a nominal limit
// in proportion to its shares. It may lend seats down to its lower bound and borrow seats up to its
// upper bound. Every ten seconds, the current limits are adjusted to demand (borrowing.go). Exempt
// levels are not limited.
//
// # Queues
//
// A flow has a hand of a level's queues, chosen by its hash (shuffle sharding). Each request joins
// the queue in the hand with the least work.
//
// Free seats go to the queue whose first request would finish first if all queues were served
// equally (fair queuing). The virtual time R counts the seat-seconds available to each active
// queue. A queue's clock starts at R when the queue becomes active. It advances by the estimated
// work of each dispatched request, and is corrected when the actual work is known. In a tie, the
// least recently served queue is next.
//
// # Invariants
//
//   - An admitted request occupies its seats until Finish. A write with many watchers occupies
//     its final seats a little longer.
//   - No request waits beyond its time limit or in a full queue. Queues exist only while they are
//     used, so memory is bounded by the waiting requests rather than by the configuration.
//   - A removed level disappears once it has served its admitted requests.
//   - The exempt and catch-all levels always exist.
package flowcontrol
