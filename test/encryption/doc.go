// Package encryption tests encryption at rest from outside: what reaches the disk, which keys are needed, how keys are changed, and
// what becomes of objects whose key is missing.
package encryption
