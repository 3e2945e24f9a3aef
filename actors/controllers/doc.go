// Package controllers holds the controllers that run inside the server, one per file. Each
// reconciles objects through the same Store that requests use. Controllers keep their state in
// memory only and rebuild it from watches at the next start.
//
//	Namespaces              deletes the content of terminating namespaces
//	GarbageCollector        deletes dependents of deleted owners, by propagation policy
//	ResourceQuotas          writes the status of quotas
//	Protection              keeps bound volumes, and claims that Pods use, until they are unused
//	SystemObjects           creates the system's namespaces and priority classes
//	APIServerIdentity       renews the Lease of this server and deletes expired ones of others
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
//	Definitions             serves the kinds of CustomResourceDefinitions
//	APIServiceRegistration  maintains an APIService for each version served locally
//	APIServiceAvailability  maintains the Available condition of APIServices
//	StorageVersionMigrator  rewrites objects that are stored in an old version
//	ExtensionAuthentication publishes the trusted authenticators for extension API servers
//	ClusterInfo             publishes the server's address and CA in a ConfigMap
//	LegacyTokenTracking     records the day on which a token of a Secret was last used
//	LegacyTokenCleaner      invalidates and deletes unused tokens in Secrets
//	APIServerService        maintains the Service of the API and its endpoints
//
// Further controllers are in packages below: certificates, workloads (such as Deployments and
// Jobs), addresses and endpoints (of Services), disruption (budgets) and nodes. All build on
// package reconcile. A controller declares what it watches and how it reconciles a key.
//
// Service account tokens: a token in a Secret is never replaced. A Secret is deleted only if its
// account does not exist or has another uid than the Secret names. No account is created in a
// terminating namespace.
//
// Protection: an object is marked pending before the objects that use it are listed. If one of
// these is deleted during the list, the marked object is enqueued again.
//
// The GarbageCollector has a graph of owner references by uid, which it builds from a watch of
// every kind. One work queue holds dependents that may be garbage, and another holds owners whose
// finalizer may be due. Invariants:
//
//   - The graph only selects objects to examine. Decisions are made on the stored objects.
//   - The finalizer of an owner is removed only after its dependents were listed from the store.
//   - An owner is absent if no object of its name has its uid. It is looked up in the namespace of
//     the dependent or, for cluster-scoped kinds, in none.
//   - An owner of an unknown kind, or a namespaced owner of a cluster-scoped dependent, counts as
//     present, because its absence cannot be established.
//   - A dependent examined before its owner's kind was fully listed is examined again afterwards.
package controllers
