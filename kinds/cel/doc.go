// Package cel evaluates expressions in CEL: the rules of custom kinds, the policies and conditions of admission. It is
// the only user of the library for the language.
//
//	Env        what expressions of one purpose may use: the language, the functions, variables with their types
//	Type       the type of a variable, of a field, or of a result
//	Schema     what values of trees mean: NewType makes a Type of it, and Schema.Value the values
//	Checked    an expression that has been parsed, and whose types fit: Env.Check
//	Program    an expression that can be evaluated: Env.Compile, Checked.Program
//	Activation the variables of one evaluation
//	Budget     what is left of a cost limit for several evaluations
//	Authorizer decides what a user may do, for the variable authorizer
//	Lazy       an object whose fields are made when they are first read: the variables of a policy
//	Operation  one operation of a JSON Patch that an expression made
//
// The functions are those of version 1.35 of the public API. An Env, a Type, a Schema and a Program are immutable, and
// may be used by many at once. The declarations of the functions are made with the first Env, and shared by all.
//
// # Values
//
// A value of a tree (tree.Tree, []any, string, int64, float64, bool, nil) is adapted when an expression looks at it, and
// never copied. Without a schema it is dynamic. With one, formats count (a date-time is a timestamp), names are escaped
// (self.a__dash__b, self.__in__), and lists of type set and map are compared and added without regard to their order.
// Native turns a result into a value of a tree.
//
// # Types
//
// The names of the types of objects begin with a character that no expression can spell, such as "@self.spec": a
// selection of a field is never taken for the name of a type. Types of this package are called "platform.Quantity" and
// so on; faults say them in the words of the naming profile.
//
// # Costs
//
// A unit is about 100 ns. Checked.EstimateCost is what an expression costs at most, with values as large as the limits of
// schemas allow. When it runs, an evaluation ends with PerCallLimit, and all of them with the Budget. Calls whose time or
// result can be far larger than their arguments are guarded (guard.go): they look at what they would take before they do
// anything. An evaluation ends with its context. The library's counting would take the square of the length of a loop; loops.go
// keeps it from that. For the time that a Program is made the Checked is changed, so it belongs to one goroutine.
//
// To count takes longer than to evaluate. In an environment that is Sized, an expression whose form and variables show
// beforehand that it is cheap is evaluated without counting, out of a twentieth of the Budget (bounded.go). What it comes
// to is the same.
//
// # Order
//
// The functions of one subject are in one file (network.go, quantities.go, ...), each with the declarations
// first and then what they compute. Whoever adds one has four places to think of: the list in baseEnv, what
// a call costs (callCost), what it may cost (estimates), and, if its result can outgrow its arguments, the
// guard.
package cel
