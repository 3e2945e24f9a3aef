// Package flowcontrol holds the rules of FlowSchemas and PriorityLevelConfigurations, and the
// objects that the server maintains. The rules, the controller that maintains these objects, and
// the classification of requests (package policy/flowcontrol) share them.
//
// Mandatory objects apply even after they are deleted: exempt always admits administrators, and
// catch-all gets the requests that no other FlowSchema matches. Suggested objects are initial
// values that operators may change.
package flowcontrol
