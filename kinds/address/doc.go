// Package address parses IP addresses and ranges in every form that Kubernetes has ever accepted.
// Two forms are rejected or distinguished by package netip:
//
//	010.0.0.1          leading zeros are decimal: 10.0.0.1. So are 10.0.0.0/08 and 2001:db8::00001.
//	::ffff:10.0.0.1    an IPv4-mapped IPv6 address equals the IPv4 address: 10.0.0.1
//
// Objects keep the original text. All code that compares, allocates or dials addresses parses them
// with this package, so that a text means the same everywhere.
package address
