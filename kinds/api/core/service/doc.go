// Package service interprets the spec of Services and checks their cluster IPs, for the rules of
// the kind and for the allocation of addresses and ports.
package service
