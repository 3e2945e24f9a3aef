// Package policy holds the rules of PodDisruptionBudgets.
package policy
