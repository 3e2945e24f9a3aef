// Package tokens provides the controllers for service accounts, their tokens, and bootstrap tokens.
//
//	DefaultAccounts   creates a service account "default" in every namespace
//	SecretFiller      fills Secrets with service account tokens
//	SecretCreator     creates a token Secret for each account that references none
//	LegacyTracking    records the last day on which a Secret's token was used
//	LegacyCleaner     invalidates and deletes unused tokens in Secrets
//	BootstrapCleaner  deletes expired bootstrap tokens
//	BootstrapSigner   signs the ConfigMap cluster-info with bootstrap tokens
//	ClusterInfo       publishes the server's address and CA in that ConfigMap
//
// A token in a Secret is never replaced. A Secret is deleted only if its account does not exist or
// if their uids differ. No account is created in a terminating namespace.
package tokens
