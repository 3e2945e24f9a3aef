// Package networking validates and defaults Ingresses, IngressClasses, NetworkPolicies, and the
// kinds that allocate Service addresses. Proxies, ingress controllers and network plugins implement
// these objects and rely on their validation.
package networking
