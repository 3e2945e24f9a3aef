// Package cel evaluates the CEL expressions of validation rules, admission policies and match
// conditions. No other package uses the CEL library.
//
//	Env        language, functions and typed variables for one purpose
//	Type       the type of a variable, field or result
//	Schema     typing of tree values: NewType derives a Type, Schema.Value the values
//	Checked    a parsed and type-checked expression: Env.Check
//	Program    an executable expression: Env.Compile, Checked.Program
//	Activation the variables of one evaluation
//	Budget     the remaining cost limit of several evaluations
//	Authorizer access decisions, for the variable authorizer
//	Lazy       an object whose fields are computed on first use, such as policy variables
//	Operation  a JSON Patch operation built by an expression
//
// The functions are those of Kubernetes 1.37. Env, Type, Schema and Program are immutable and safe
// for concurrent use. The first Env declares the functions, which all environments share.
//
// # Values
//
// Tree values (tree.Tree, []any, string, int64, float64, bool, nil) are adapted when read and never
// copied. Without a schema, they are dynamically typed. With a schema, formats apply (a date-time
// is a timestamp) and names are escaped (self.a__dash__b, self.__in__). Lists of type set and map
// are unordered when compared or added. Native converts a result to a tree value.
//
// # Types
//
// Names of object types, such as "@self.spec", start with a character that expressions cannot
// contain, so that a field selection is never mistaken for a type. This package's types are named
// "platform.Quantity" and so on. Error messages use the naming profile's names.
//
// # Costs
//
// A cost unit is about 100 ns. Checked.EstimateCost bounds the cost of an expression for the
// largest values that schemas allow. At run time, PerCallLimit bounds one evaluation, and the
// Budget bounds all of them. guard.go checks a call in advance if its time or result can far exceed
// the size of its arguments. An evaluation ends when its context is done. Only one goroutine may
// use a Checked, because Checked.Program modifies it.
//
// Counting costs takes longer than evaluating most expressions. A Sized environment does not count
// them if an expression's form and variables bound its cost. It charges the bound to the Budget's
// allowance (bounded.go).
//
// # Files
//
// A new function needs an entry in baseEnv, a cost (callCost) and an estimate (estimates). It also
// needs a guard if its result can be much larger than its arguments.
package cel
