// Package flowcontrol holds the rules of FlowSchemas and PriorityLevelConfigurations across fields,
// and the objects that the server maintains: the rules, the controller that maintains them and the
// classification of requests share these. The package of the same name below policy applies them to
// requests.
//
// Mandatory objects apply even after they are deleted: exempt always admits administrators, and
// catch-all takes requests that no other schema matches. Suggested objects are initial values that
// operators may change.
package flowcontrol
