// Package podsecurity enforces the Pod Security Standards. It refuses Pods that violate the
// enforced level of their namespace, and reports violations of the audit and warn levels. Writers
// of Pod templates, such as in Deployments, get warnings.
//
// A Level selects the strictness, a Version the minor version of the checks, and a Policy both for
// each mode: enforce, audit, warn. Labels of a Namespace override the defaults of the
// Configuration, which also has Exemptions. An Evaluator checks Pods for Violations. An Admission
// makes a Decision on a Request; its Registrations are the admission plugin.
//
// Invariants: decisions are pure except for metrics and do not block; only CheckPods may take long,
// within bounds. A Policy always exists: invalid labels enforce the restricted level. Texts match
// Kubernetes; test/policy compares them.
package podsecurity
