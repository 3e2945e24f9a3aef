// Package scheduling checks what says where Pods may run (node selectors, affinity, tolerations,
// spreading), and holds the rules of PriorityClasses.
package scheduling
