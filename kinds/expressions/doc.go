// Package expressions compiles the CEL expressions of admission policies, of webhook match
// conditions, of authentication and authorization configurations, and of device selectors in
// resource claims.
//
//	Compiler         compiles expressions for one naming profile and caches recent results
//	Policy           all compiled expressions of one admission policy
//	Expr             one expression: its text, and its program or error
//	DeviceSelectors  checks device selectors of claims
//
// Expressions use these variables:
//
//	object, oldObject, params                dynamic
//	request, namespaceObject                 typed
//	authorizer, authorizer.requestResource   authorization checks
//	variables                                the policy's variables that precede the expression
//
// Policies are immutable. Policies and Compilers are safe for concurrent use. An error in one
// expression does not affect the others.
package expressions
