// Package webhookclient calls the webhooks that API objects configure, for admission and
// conversion.
//
// An Address is the location of a webhook, by URL or Service, with its CA. A Dialer creates
// Clients, each for one address, with connections, a credential and a circuit breaker.
//
// # Limits
//
// A response is bounded in bytes and time. A Client makes up to maxCalls calls concurrently; more
// wait, unless the webhook is unresponsive. While connections fail, one call per probePeriod
// probes, and others fail immediately.
//
// # Invariants
//
//   - A redirect is returned like any response and never followed.
//   - The server of a Service must prove to be <name>.<namespace>.svc, whatever its address.
//   - Everything ends with its context.
package webhookclient
