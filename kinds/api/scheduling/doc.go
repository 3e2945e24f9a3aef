// Package scheduling merges label keys into the scheduling constraints of Pods, and holds the rules
// of PriorityClasses.
package scheduling
