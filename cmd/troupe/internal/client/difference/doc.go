// Package difference shows the difference between two states of an object.
package difference
