// Package expressions holds what the expressions of admission are made of: those of policies, and the match conditions
// of webhooks. Beside them it knows the expressions by which claims select devices.
//
//	Compiler  compiles them, for one naming profile, and remembers what it has compiled lately
//	Policy    all expressions of one admission policy, compiled
//	Expr      one expression: its text, its program, or what is wrong with it
//
//	DeviceSelectors checks the expressions by which claims select devices
//
// The variables are object, oldObject and params, which are dynamic; request and namespaceObject, whose fields are known;
// authorizer and authorizer.requestResource; and variables, whose fields are the variables of the policy, in their order:
// an expression of a variable sees those before it.
//
// Invariants: a Policy and its parts never change, and many goroutines may use them and a Compiler. A fault of one
// expression leaves the others usable.
package expressions
