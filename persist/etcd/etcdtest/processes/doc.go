// Package processes hides platform differences in processes, signals and locks from tests.
package processes
