// Package scheduling validates and defaults PriorityClasses, and merges label keys into Pods'
// scheduling constraints.
package scheduling
