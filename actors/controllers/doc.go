// Package controllers provides the Store and Env that the server's controllers share, and the
// Election and Leader that decide where controllers run. The controllers are in its subpackages.
//
//	apiserver         the API server's own objects, Events, and storage versions
//	apiservices       APIServices, and access to extension API servers
//	certificates      CertificateSigningRequests, and the server's CAs
//	crd               CustomResourceDefinitions
//	disruption        PodDisruptionBudgets
//	flowcontrol       FlowSchemas and PriorityLevelConfigurations
//	garbagecollector  dependents of deleted owners
//	namespaces        content of terminating namespaces
//	network           addresses and endpoints of Services
//	nodes             nodes and their Pods
//	policies          quotas, aggregated ClusterRoles, and admission policies
//	policyobjects     the objects that package policy reads
//	tokens            service accounts and bootstrap tokens
//	volumes           volumes and claims
//	workloads         workloads such as Deployments and Jobs
//
// Controllers build on package reconcile, and reconcile objects through the same Store that
// requests use. Their state is in memory only and is rebuilt from watches at the next start.
package controllers
