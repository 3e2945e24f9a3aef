// Package amount adds and compares quantities, such as the CPU requests of all Pods in a namespace.
// A List contains the amounts of several resources, such as a Pod's requests. Amounts that do not
// fit into integers use exact decimal arithmetic. An Amount keeps its format: decimal (suffixes
// such as M) or binary (Mi).
package amount
