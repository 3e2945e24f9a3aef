// Package podsecurity checks Pods by the Pod Security Standards: it refuses those that violate the level that
// their namespace enforces, and tells the audit and the user of other levels that they violate. Whoever writes an
// object that makes Pods, such as a Deployment, is told what will become of them.
//
// The nouns: a Level is how much is demanded, a Version as of which minor version of the API, a Policy both for
// each mode: enforce, audit, warn. Labels of a Namespace ask for a Policy, above the defaults of the
// Configuration, which also has Exemptions. An Evaluator checks a Pod and finds Violations; a check looks at one
// concern, and a revision of it counts since a version. An Admission makes a Decision on a Request; its
// Registration is the admission plugin.
//
// Invariants: decisions are pure but for what they count, and wait for nothing; only CheckPods may take long,
// within bounds. A Policy can always be had: labels that cannot be read are enforced as the restricted level. Texts
// that users see are those of the public implementation; test/policy compares them.
package podsecurity
