// Package ownership holds kinds/ownership against the public implementation of managed
// fields and server-side apply: the same writes, made at random on every kind, must leave the
// same objects and the same owners.
package ownership
