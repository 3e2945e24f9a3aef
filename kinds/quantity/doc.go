// Package quantity reads and prints resource quantities such as "500m", "1536Mi"
// and "1e3", by exact decimal arithmetic.
//
// A quantity is a sign, decimal digits with at most one point, and a suffix:
//
//	binary    Ki Mi Gi Ti Pi Ei           powers of 1024
//	decimal   n u m (none) k M G T P E    powers of 1000, from 1e-9 to 1e18
//	exponent  e or E and a whole number   powers of ten
//
// The canonical form keeps the family of the suffix, has no fraction, no needless
// zero, and the largest suffix that loses nothing: "0.5" is "500m", "1000k" is "1M",
// "1.5Gi" is "1536Mi", "1e4" is "10e3". Three things differ from plain arithmetic,
// as clients of these conventions expect: what is finer than 1n is rounded away from
// zero; a binary amount below 1024, or with a fraction, is printed in the decimal
// family; and binary amounts end at 2^63-1.
package quantity
