// Package difference shows what differs between two states of an object, as people read it.
package difference
