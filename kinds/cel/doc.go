// Package cel evaluates CEL expressions: validation rules of custom kinds, admission policies and
// match conditions. It is the only user of the CEL library.
//
//	Env        language, functions and typed variables for one purpose
//	Type       the type of a variable, a field or a result
//	Schema     the meaning of tree values: NewType derives a Type, Schema.Value the values
//	Checked    a parsed and type-checked expression: Env.Check
//	Program    an executable expression: Env.Compile, Checked.Program
//	Activation the variables of one evaluation
//	Budget     the rest of a cost limit for several evaluations
//	Authorizer decides what a user may do, for the variable authorizer
//	Lazy       an object whose fields are computed on first use: the variables of a policy
//	Operation  an operation of a JSON Patch that an expression built
//
// The functions are those of Kubernetes 1.35. Env, Type, Schema and Program are immutable and safe
// for concurrent use. The first Env declares the functions, which all share.
//
// # Values
//
// Values of trees (tree.Tree, []any, string, int64, float64, bool, nil) are adapted on access and
// never copied. Without a schema they are dynamic. With one, formats apply (a date-time is a
// timestamp), names are escaped (self.a__dash__b, self.__in__), and the order of lists of type set
// and map does not matter for comparison and addition. Native converts a result to a tree value.
//
// # Types
//
// Names of object types start with a character that expressions cannot contain, as in "@self.spec",
// so that selecting a field is never mistaken for a type. Types of this package are named
// "platform.Quantity" and so on; faults use the names of the profile.
//
// # Costs
//
// A unit is about 100 ns. Checked.EstimateCost bounds the cost of an expression for the largest
// values that schemas allow. At run time, PerCallLimit bounds one evaluation and the Budget all of
// them. Calls whose time or result can be far larger than their arguments check that in advance
// (guard.go). An evaluation ends with its context. loops.go prevents the library's counting from
// taking quadratic time in loops; it modifies a Checked while its Program is made, so a Checked
// belongs to one goroutine.
//
// Counting takes longer than evaluating. In a Sized environment, an expression that is cheap by its
// form and variables is not counted; its bound is charged to a twentieth of the Budget
// (bounded.go). The result is the same.
//
// # Files
//
// Each file with functions (network.go, quantities.go, ...) has the declarations first, then the
// implementations. A new function needs an entry in baseEnv, a cost (callCost), an estimate
// (estimates) and, if its result can outgrow its arguments, a guard.
package cel
