// Package podsecurity enforces the Pod Security Standards. It rejects Pods that violate their
// namespace's enforce level, and reports violations of the audit and warn levels. Clients that
// write Pod templates, such as those of Deployments, get warnings.
//
// A Level selects the strictness, and a Version the minor version of the checks. A Policy has both
// for each mode: enforce, audit and warn. Namespace labels override the defaults of the
// Configuration, which also has Exemptions. An Evaluator returns the Violations of a Pod. An
// Admission makes a Decision on a Request. Its Registrations form the admission plugin.
//
// Decisions do not block and have no side effects except metrics. Only CheckPods may be slow, and
// its duration is limited. An invalid enforce level counts as restricted, so that every namespace
// has a Policy. Messages match those of Kubernetes, and test/policy compares them.
package podsecurity
