// Package flowcontrol provides the controller for FlowSchemas and PriorityLevelConfigurations. It
// maintains the server's own objects and reports schemas whose priority level is missing. Package
// policy/flowcontrol applies the objects to requests.
package flowcontrol
