// Package match selects the requests of admission webhooks and admission policies.
//
// A rule names operations, groups, versions and resources, such as "pods", "pods/*", "*/status",
// "*" or "*/*". Criteria hold the rules, exclusions, match policy and selectors of one webhook,
// policy or binding. An Index finds the few items whose Criteria cover a resource. Namespaces
// caches namespaces with their labels.
//
// A match returns the kind whose form of the request applies. With the match policy Equivalent, it
// may be another version of the same storage, including the other group of Events.
//
// Criteria and Index are immutable and safe for concurrent use. They cache the result per resource,
// so that an unmatched resource costs one map lookup. The admission configurations themselves never
// match, so that a bad one can be repaired.
package match
