// Package flowcontrol holds the FlowSchemas and PriorityLevelConfigurations that the server
// maintains. The rules of the kinds, the controller that maintains them, and request classification
// share them.
//
// Mandatory objects apply even after they are deleted: exempt always admits administrators, and
// catch-all takes requests that no other schema matches. Suggested objects are initial values that
// operators may change.
package flowcontrol
