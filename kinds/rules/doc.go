// Package rules fills in defaults and checks objects: what every object has
// (metadata), what a kind's plan says of each field, and then the kind's own function.
//
// A check never stops at the first fault. The causes come in a fixed order: metadata,
// the fields in plan order (depth first), the kind's function; where the plan has already
// reported the same type of fault for the same path, the function's words replace it.
//
// Paths are those of the JSON form: spec.containers[0].name, data[key].
//
// Nothing here keeps or shares what it is given. Only Default changes its tree.
package rules
