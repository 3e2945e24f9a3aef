// Package scheduling holds the rules of PriorityClasses, and merges label keys into the scheduling
// constraints of Pods.
package scheduling
