// Package networking holds the rules of Ingresses, IngressClasses, NetworkPolicies, and the address
// kinds of Services. Proxies, ingress controllers and network plugins implement them and rely on
// these checks.
package networking
