// Package field checks single fields: texts with a format or a few choices, numbers within bounds,
// names, addresses, ports, conditions, label selectors. The families of kinds share it.
//
// A check is given the object that has the field, the path of that object for the messages, and
// the list that its faults are added to. Messages are those that clients of the API know.
//
// A check reports every fault that it finds and never stops a request by itself; whoever collected the
// faults turns them into one Status.
package field
