// Package resource holds the rules of devices: what nodes offer in slices, classes of it, and claims
// to it.
package resource
