// Package condition reads the conditions in the status of an object.
package condition
