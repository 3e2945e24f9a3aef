// Package processes provides portable process, signal and file lock helpers for tests.
package processes
