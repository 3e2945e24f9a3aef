// Package meta holds the vocabulary of the API: keys and names, objects and their
// heads, Status, and the naming profile. It does no I/O and knows no kind.
package meta
