// Package webhookclient reaches the webhooks that objects of the cluster name: those of admission and of conversions.
//
// The nouns: an Address is where a webhook is, by URL or by Service, and whom it must prove to be; a Dialer makes
// Clients, each for one address, with its connections, its credential and its circuit.
//
// # Limits
//
// An answer is bounded in bytes and in time. A Client asks maxCalls questions at a time; more wait, but not for a webhook
// that answers nobody. While a webhook cannot be connected to, one question in a while tries, and the others fail at
// once.
//
// # Invariants
//
//   - A redirect is an answer like any other, and never followed.
//   - The server of a Service proves to be <name>.<namespace>.svc, whatever its address.
//   - Everything ends with its context.
package webhookclient
