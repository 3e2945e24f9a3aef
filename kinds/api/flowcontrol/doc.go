// Package flowcontrol holds the rules of FlowSchemas and PriorityLevelConfigurations across fields,
// and against the specs that the server fixes. The package of the same name below policy applies
// them to requests.
package flowcontrol
