// Package webhookclient calls the webhooks that API objects configure, for admission and
// conversion.
//
// An Address is the location of a webhook, by URL or Service, with its CA. A Dialer creates
// Clients. Each Client connects to one address, and has a credential and a circuit breaker.
//
// # Limits
//
// A Client makes up to maxCalls calls concurrently. Further calls wait, or fail if the webhook is
// unresponsive. While connections fail, one call per probePeriod tries to connect, and all others
// fail immediately.
//
// # Invariants
//
//   - A redirect is returned like any other response and never followed.
//   - The certificate of a Service must be valid for <name>.<namespace>.svc, regardless of its
//     address.
//   - Every call ends with its context.
package webhookclient
