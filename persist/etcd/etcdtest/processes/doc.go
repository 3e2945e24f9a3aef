// Package processes hides from tests how systems differ in processes, their signals and locks.
package processes
