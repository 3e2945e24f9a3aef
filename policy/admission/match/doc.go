// Package match selects the requests of admission webhooks and admission policies.
//
// A rule lists operations, groups, versions and resources, such as "pods", "pods/*", "*/status",
// "*" or "*/*". Criteria holds the rules, exclusions, matchPolicy and selectors of one webhook,
// policy or binding. An Index finds the few items whose Criteria cover a resource. Namespaces
// caches namespaces with their labels.
//
// A match returns the kind to which the request must be converted. With matchPolicy Equivalent,
// this kind may be another version of the same objects, including the other group of Events.
//
// Criteria and Index are immutable and cache results per resource. Admission configurations
// themselves never match, so that a bad one can be repaired.
package match
