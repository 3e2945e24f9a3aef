// Package quantity parses and formats resource quantities such as "500m", "1536Mi" and "1e3" with
// exact decimal arithmetic.
//
// A quantity is a sign, decimal digits with at most one point, and a suffix:
//
//	binary    Ki Mi Gi Ti Pi Ei           powers of 1024
//	decimal   n u m (none) k M G T P E    powers of 1000, from 1e-9 to 1e18
//	exponent  e or E and a whole number   powers of ten
//
// The canonical form keeps the family of the suffix and has no fraction, no redundant zeros, and
// the largest exact suffix: "0.5" is "500m", "1000k" is "1M", "1.5Gi" is "1536Mi", "1e4" is "10e3".
//
// As in Kubernetes, three rules deviate from plain arithmetic. Amounts finer than 1n are rounded
// away from zero. Binary amounts below 1024, or with a fraction, are formatted as decimal. Binary
// amounts are limited to 2^63-1.
package quantity
