// Package flowcontrol implements API priority and fairness: FlowSchemas and
// PriorityLevelConfigurations decide which requests run, wait or are refused.
//
//	Controller      follows the objects and holds the resulting configuration
//	schema          a FlowSchema: the requests it matches and their priority level
//	classifier      finds the schema of a request
//	flow            requests of a schema with the same user or namespace
//	seat            unit of concurrency; a large request occupies several
//	level           a priority level with its seats, queues and requests
//	Request         one request on its way through a level
//
// # Seats
//
// The server has as many seats as its limit of requests in flight. Each level gets a nominal part
// by its shares. It may lend seats down to lower and borrow up to upper. Every ten seconds the
// current limits are adjusted to demand (borrowing.go). Exempt levels are not limited.
//
// # Queues
//
// A flow has a hand of a level's queues, chosen by its hash (shuffle sharding). Each request goes
// to the queue of the hand with the least work. A flow that sends too much fills its own hand,
// while other flows most likely have a free queue.
//
// Free seats go to the queue whose first request would finish first if all queues were served
// evenly (fair queuing). Virtual time R counts the seat-seconds available to each active queue. A
// queue's own clock starts at R when it becomes active. It advances by the estimated work of each
// dispatched request, and is corrected by the actual work. Ties go to the queue served longest ago.
//
// # Invariants
//
//   - An admitted request occupies its seats until Finish; the extra seats of a widely watched
//     write stay occupied a little longer.
//   - No request waits beyond its limit or in a full queue. Only used queues exist in memory, so
//     memory is bounded by waiting requests, not by configuration.
//   - A removed level serves its admitted requests and then goes.
//   - exempt and catch-all always exist.
//   - Classification reads an immutable configuration without locks. A level has one lock, held for
//     a few hundred nanoseconds.
package flowcontrol
