// Package flowcontrol validates and defaults FlowSchemas and PriorityLevelConfigurations, and lists
// the objects that the server maintains.
//
// Mandatory objects apply even after they are deleted: exempt always admits administrators, and
// catch-all handles requests that match no other FlowSchema. Suggested objects are initial values
// that operators may change.
package flowcontrol
