// Package cel holds expressions in CEL, and the rules of custom kinds, against the public implementation: results, faults,
// costs and estimates are the same.
package cel
