// Package scheduling checks what says where Pods may run (node selectors, affinity, tolerations,
// spreading), and holds the rules of PriorityClasses.
//
// The checks are of the form alone. Whether any node fits is the scheduler's concern and may change at any
// time; a Pod that fits nowhere is valid and waits.
package scheduling
