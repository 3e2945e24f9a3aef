// Package flowcontrol holds the rules of FlowSchemas and PriorityLevelConfigurations, and the
// objects that the server maintains. These objects are shared by the rules, by the controller that
// maintains them, and by the classification of requests. Package policy/flowcontrol applies them to
// requests.
//
// Mandatory objects apply even after they are deleted: exempt always admits administrators, and
// catch-all gets the requests that no other FlowSchema matches. Suggested objects are initial
// values that operators may change.
package flowcontrol
