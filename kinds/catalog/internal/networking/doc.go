// Package networking holds the rules of Ingresses and their classes, of NetworkPolicies, and of the
// kinds that describe the addresses of Services.
package networking
