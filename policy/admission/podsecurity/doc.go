// Package podsecurity enforces the Pod Security Standards. It rejects Pods that violate the
// enforced level of their namespace, and reports violations of the audit and warn levels. Clients
// that write Pod templates, such as those of Deployments, get warnings.
//
// A Level selects the strictness, and a Version the minor version of the checks. A Policy has both
// for each mode: enforce, audit and warn. Labels of a Namespace override the defaults of the
// Configuration, which also has Exemptions. An Evaluator checks Pods for Violations. An Admission
// makes a Decision on a Request. Its Registrations are the admission plugin.
//
// Decisions have no side effects except metrics and do not block. Only CheckPods may take long,
// within bounds. A Policy always exists, because invalid labels enforce the restricted level.
// Messages match those of Kubernetes, and test/policy compares them.
//
// checks.go lists the checks of each level. Their functions are grouped by subject:
// capabilities.go, host.go (namespaces, ports and probes), kernel.go (sysctls, procMount, SELinux),
// privileges.go (users, privileged and HostProcess containers), profiles.go (seccomp, AppArmor) and
// volumes.go.
package podsecurity
