// Package address parses IP addresses and ranges in every form that Kubernetes has ever accepted.
// Package netip rejects or distinguishes two of these forms:
//
//	010.0.0.1          leading zeros are decimal: 10.0.0.1; also in 10.0.0.0/08 and 2001:db8::00001
//	::ffff:10.0.0.1    an IPv4-mapped IPv6 address equals the IPv4 address: 10.0.0.1
//
// Objects keep the original text. All code that compares, allocates or dials addresses must parse
// them with this package, so that a text always means the same address.
package address
