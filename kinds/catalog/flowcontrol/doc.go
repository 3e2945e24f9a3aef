// Package flowcontrol holds the flow schemas and priority levels that the server itself makes and maintains. The rules of
// the two kinds, the controller that maintains them, and what decides about requests share them.
//
// Mandatory objects are what decides even where they have been deleted: exempt lets administrators in at any time, and
// catch-all takes what nothing else matches. Suggested ones are a start, and operators may change them.
package flowcontrol
