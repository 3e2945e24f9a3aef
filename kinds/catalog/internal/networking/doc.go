// Package networking holds the rules of Ingresses and their classes, of NetworkPolicies, and of the
// kinds that describe the addresses of Services.
//
// None of them is acted upon by this server: proxies, ingress controllers and network plugins do that, and
// rely on what is checked here.
package networking
