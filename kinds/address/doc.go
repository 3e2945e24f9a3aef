// Package address reads IP addresses and ranges in every form in which clients of the public API have ever been
// allowed to write them.
//
// Two forms are read here that package netip refuses or keeps apart:
//
//	010.0.0.1          numbers with leading zeros, which are decimal: 10.0.0.1. So are 10.0.0.0/08 and 2001:db8::00001.
//	::ffff:10.0.0.1    an address of IPv4 in the form of IPv6, which is that address: 10.0.0.1
//
// Objects keep the text that was sent. Whoever compares, gives out or connects to an address reads it with this package,
// so that one text means the same everywhere.
package address
