// Package policy validates and defaults PodDisruptionBudgets.
package policy
