// Command kubernetes-minor compares Troupe with a release of Kubernetes and prints a checklist. It
// supports the upgrade to the next minor version:
//
//	go run ./tools/kubernetes-minor 1.38.0
//	go run ./tools/kubernetes-minor -record tools/kubernetes-minor/testdata/release.json 1.38.0
//
// It downloads the modules of the release and compares these lists with a server that it starts
// with all API versions and feature gates on:
//
//	resources   discovery: kind, scope, verbs, short names, categories
//	schemas     fields of OpenAPI v3: type, list type, merge strategy, required, default, enum
//	operations  parameters and media types of OpenAPI v3 by action
//	paths       paths of OpenAPI v3 without a resource
//	gates       feature gates; those that changed in this minor must take effect
//	flags       flags of kube-apiserver
//	metrics     stable and beta metrics of kube-apiserver; others may change in any release
//	plugins     admission plugins, and whether they are on by default
//	roles       default RBAC roles and bindings; Troupe must not have more
//
// Terms:
//
//	inventory  the lists of a release or of the server
//	row        one item, or one token of it, such as a field of a schema
//	attribute  a property of a token, such as a verb of a role
//
// A row is implemented, declined with a reason, or open. The reasons are listed in declined.txt
// and, for flags, in the server's settings. The command fails while a row is open, or if a pattern
// of declined.txt matches no row.
//
// With -record it also writes the inventory of the release. The test of this package compares the
// server with the recorded inventory, so that it needs no downloads.
package main
