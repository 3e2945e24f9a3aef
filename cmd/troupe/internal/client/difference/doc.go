// Package difference compares two states of an object, for display.
package difference
