// Package flowcontrol holds the rules of FlowSchemas and PriorityLevelConfigurations. What they do to requests is decided
// in the package of the same name below policy.
//
// Both kinds are checked in two steps. The declaration of a kind checks each field for itself. The functions here check
// what it cannot say: how fields relate to one another, and to the specs that the server fixes. Texts of faults are
// those that clients of the field know.
package flowcontrol
