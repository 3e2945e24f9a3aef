// Package flowcontrol provides the controller for FlowSchemas and PriorityLevelConfigurations. It
// maintains the default objects of the server, and sets the Dangling condition of FlowSchemas whose
// priority level does not exist. Package policy/flowcontrol applies the objects to requests.
package flowcontrol
