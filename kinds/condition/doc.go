// Package condition reads the conditions in the status of an object: a list of objects, each of
// another type, whose field status is "True", "False" or "Unknown".
package condition
