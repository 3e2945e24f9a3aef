// Package service interprets and checks the spec of Services, for the rules of the kind and for the
// allocation of addresses and ports.
package service
