// Package policies provides the controllers for objects that package policy applies to requests.
//
//	ClusterRoleAggregation  computes the rules of cluster roles with an aggregationRule
//	AdmissionPolicyStatus   type-checks the expressions of admission policies
//	ResourceQuotas          writes the status of quotas
package policies
