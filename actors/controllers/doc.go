// Package controllers holds the controllers that run inside the server, one per file. Each brings
// objects to the state that their specification asks for, through the same Store that requests
// use. Their state is in memory only and is rebuilt from watches at the next start.
//
//	Namespaces              deletes the content of namespaces that are being deleted
//	GarbageCollector        deletes objects whose owners are deleted, and completes deletes with
//	                        propagation policy Orphan or Foreground
//	ResourceQuotas          writes the status of quotas
//	Protection              keeps bound volumes, and claims that Pods use, until they are not in use
//	SystemObjects           keeps the namespaces and priority classes of the system
//	APIServerIdentity       tells of this server in a Lease, and forgets servers that have ended
//	EventExpiry             deletes Events after their TTL
//	TTLAfterFinished        deletes Jobs some time after they have finished
//	Leader                  tells whether kube-controller-manager runs the same controllers
//	ServiceAccounts         keeps a service account "default" in every namespace
//	Tokens                  fills Secrets with the tokens of service accounts
//	TokenSecrets            creates such a Secret for accounts that reference none
//	TokenCleaner            deletes expired bootstrap tokens
//	BootstrapSigner         signs the ConfigMap cluster-info with bootstrap tokens
//	ClusterRoleAggregation  computes the rules of cluster roles with an aggregationRule
//	PolicyStatus            checks the types in the expressions of admission policies
//	Definitions             serves the kinds of CustomResourceDefinitions
//	APIServiceRegistration  keeps an APIService for each version that is served here
//	APIServiceAvailability  keeps the condition Available of APIServices
//	StorageVersionMigrator  writes objects again that are stored in a former version
//	ExtensionAuthentication tells servers that extend the API whom to believe, in a ConfigMap
//	ClusterInfo             tells everybody where the server is and whom to trust, in a ConfigMap
//	LegacyTokenTracking     notes on which day the token of a Secret was last used
//	LegacyTokenCleaner      ends tokens in Secrets that nobody uses
//	APIServerService        maintains the Service of the API and its endpoints
//
// Those of certificates are in the package certificates below, those of Deployments, Jobs and the like in workloads, those of
// the addresses and the endpoints of Services in addresses and endpoints, those of budgets in disruption, those of nodes in
// nodes.
//
// What they stand on is in package reconcile: a controller declares what it watches and how it reconciles a key.
//
// Service account tokens: a token in a Secret is never replaced. A Secret is deleted only if the
// account that it names does not exist, or has another uid than the Secret says. No account is
// created in a namespace that is being deleted.
//
// Protection: an object is marked pending before its users are listed, so that the delete of a
// user during the list enqueues it again.
//
// The GarbageCollector has a graph of owner references by uid, fed by a watch of every kind, a
// workqueue of dependents that may be garbage, and one of owners whose finalizer may be due. Its
// invariants:
//
//   - The graph only says which objects to look at. Decisions are made on the objects in the store.
//   - The finalizer of an owner is removed only after its dependents were listed from the store.
//   - An owner is absent if there is no object with its uid under its name, in the namespace of the
//     dependent or, for cluster-scoped kinds, in none.
//   - An owner of an unknown kind, or a namespaced owner of a cluster-scoped dependent, counts as
//     present, because its absence cannot be established.
//   - A dependent that was looked at before all objects of its owner's kind were known is looked at again then.
package controllers
