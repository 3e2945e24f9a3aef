// Package apiserver provides the controllers for the API server's own objects, Events, and storage
// versions.
//
//	SystemObjects            creates the system's namespaces and priority classes
//	Identity                 renews this server's Lease and deletes others' expired Leases
//	Service                  maintains the API server's Service and its endpoints
//	ExtensionAuthentication  publishes the trusted authenticators for extension API servers
//	EventExpiry              deletes Events after their TTL
//	StorageVersionMigrator   rewrites objects that are stored in an old version
package apiserver
