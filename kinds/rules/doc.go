// Package rules fills in defaults, prunes and checks objects: what every object has (metadata), what the plan of
// its kind asks of each field, and then what the kind's own functions do.
//
// # The engine
//
// A schema.ValuePlan says what is to be done with one value; evaluators.go and oneof.go hold the evaluators that
// options are compiled into (compile.go), and package custom has those of OpenAPI. Three walks go over the plans,
// for built-in and custom kinds alike:
//
//	default.go   Default and DefaultValue fill in what is left out
//	prune.go     Prune drops what no plan knows; decoding does that for built-in kinds
//	walk.go      Fields and Items, the evaluators of what is inside of objects and lists
//	identity.go  what tells the elements of a list apart, and that they do not repeat
//
// Declared rules, which messages state beside the options of their fields, are compiled into closures over trees:
// expression.go compiles the expressions, functions.go holds their functions, and declared.go runs the rules.
//
// Plans are pruned when they are compiled: where there is nothing to check or to default below a field, no walk goes
// there.
//
// # Faults
//
// A check never stops at the first fault. The causes come in a fixed order: metadata, the fields in plan order (depth
// first), the kind's rules and function; where the plan has already reported the same type of fault for the same path, the
// words of those replace it.
//
// Paths are those of the JSON form: spec.containers[0].name, data[key].
//
// Nothing here keeps or shares what it is given. Only Default changes its tree.
package rules
