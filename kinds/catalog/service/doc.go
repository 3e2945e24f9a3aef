// Package service answers what a Service needs from the server, and checks the addresses that it
// asks for. The rules of the kind and the allocation of addresses and ports share the answers.
package service
