// Package flowcontrol holds the controller of FlowSchemas and PriorityLevelConfigurations. It
// maintains the server's own objects, and reports schemas whose priority level is missing. Their
// effect on requests is in policy/flowcontrol.
package flowcontrol
