// Package match tells which requests an admission webhook or an admission policy is about.
//
// The nouns: a Rule names operations, groups, versions and resources, as "pods", "pods/*", "*/status", "*" or
// "*/*"; Criteria are the rules, those that exclude, the match policy and the selectors of one webhook, policy
// or binding; an Index holds many values, such as all webhooks of one sort, each with its Criteria, and finds
// the few that a resource concerns; Namespaces are those that the cluster has, with their labels.
//
// A match names the kind in whose form the request is looked at: that of the request, or, under the
// match policy Equivalent, the first other version of the same storage that a rule names. Events of both
// of their groups share a storage, too.
//
// Invariants: Criteria and an Index never change, and many goroutines may use them; what the rules say
// of a resource is worked out once, so that a resource that nothing is about costs one look-up in a map.
// The configurations of admission themselves match nothing, or a bad one could not be repaired.
package match
