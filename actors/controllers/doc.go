// Package controllers provides the controllers that run inside the server, one per file. Each
// reconciles objects through the same Store that requests use. Controllers keep their state in
// memory only and rebuild it from watches at the next start.
//
//	Namespaces              deletes the content of terminating namespaces
//	GarbageCollector        deletes dependents of deleted owners, by propagation policy
//	ResourceQuotas          writes the status of quotas
//	Protection              protects bound volumes and claims in use from deletion
//	SystemObjects           creates the system's namespaces and priority classes
//	APIServerIdentity       renews this server's Lease and deletes others' expired Leases
//	EventExpiry             deletes Events after their TTL
//	TTLAfterFinished        deletes finished Jobs after their TTL
//	Leader                  reports whether kube-controller-manager runs the same controllers
//	ServiceAccounts         creates a service account "default" in every namespace
//	Tokens                  fills Secrets with service account tokens
//	TokenSecrets            creates a token Secret for each account that references none
//	TokenCleaner            deletes expired bootstrap tokens
//	BootstrapSigner         signs the ConfigMap cluster-info with bootstrap tokens
//	ClusterRoleAggregation  computes the rules of cluster roles with an aggregationRule
//	PolicyStatus            type-checks the expressions of admission policies
//	Definitions             serves custom resources
//	APIServiceRegistration  maintains an APIService for each version served locally
//	APIServiceAvailability  maintains the Available condition of APIServices
//	StorageVersionMigrator  rewrites objects that are stored in an old version
//	ExtensionAuthentication publishes the trusted authenticators for extension API servers
//	ClusterInfo             publishes the server's address and CA in a ConfigMap
//	LegacyTokenTracking     records the last day on which a Secret's token was used
//	LegacyTokenCleaner      invalidates and deletes unused tokens in Secrets
//	APIServerService        maintains the API server's Service and its endpoints
//
// Further controllers are in packages below: certificates, workloads (such as Deployments and
// Jobs), addresses and endpoints (of Services), disruption (budgets) and nodes. All build on
// package reconcile. A controller declares its watches and how it reconciles a key.
//
// Service account tokens: a token in a Secret is never replaced. A Secret is deleted only if its
// account does not exist or if their uids differ. No account is created in a terminating namespace.
//
// Protection: a volume or claim is marked pending before the objects that use it are listed. If one
// of these is deleted during the list, the marked object is enqueued again.
//
// The GarbageCollector has a graph of owner references by uid, which it builds from a watch of
// every kind. One work queue holds dependents that may be garbage, and another holds owners whose
// finalizer may be due. Invariants:
//
//   - The graph only selects objects to examine. Decisions are made on the stored objects.
//   - An owner's finalizer is removed only after its dependents were listed from the store.
//   - An owner is absent if no object with its name has its uid. It is looked up in the
//     dependent's namespace, or in none for cluster-scoped kinds.
//   - An owner of an unknown kind, or a namespaced owner of a cluster-scoped dependent, counts
//     as present, because its absence cannot be established.
//   - A dependent examined before its owner's kind was fully listed is examined again
//     afterwards.
package controllers
