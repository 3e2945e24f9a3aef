// Package deadline makes contexts that end at a deadline and cost nothing while nobody waits.
//
// Its noun:
//
//	Lazy    a context.Context without values, whose timer is made when Done is first called
//	Waiter  what learns then that somebody begins to wait
package deadline
