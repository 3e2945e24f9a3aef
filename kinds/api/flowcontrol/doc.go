// Package flowcontrol holds the rules of FlowSchemas and PriorityLevelConfigurations, and the
// objects of both kinds that the server maintains.
//
// Mandatory objects apply even after they are deleted: exempt always admits administrators, and
// catch-all gets the requests that no other FlowSchema matches. Suggested objects are initial
// values that operators may change.
package flowcontrol
