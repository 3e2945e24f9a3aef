// Package drift compares the plan with the public Go types of the API: every field of
// every kind of the catalogue, with its JSON name, wire numbers, list type, merge key,
// and whether it is a pointer or left out when empty.
package drift
