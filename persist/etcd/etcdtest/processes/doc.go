// Package processes hides differences between systems in processes, signals and locks from tests.
package processes
