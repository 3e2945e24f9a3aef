// Package networking holds the rules of Ingresses, IngressClasses, NetworkPolicies, and the kinds
// that allocate the addresses of Services. Proxies, ingress controllers and network plugins
// implement these objects and rely on the checks.
package networking
