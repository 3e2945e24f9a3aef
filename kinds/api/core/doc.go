// Package core holds the rules of the core group except for Pods (package pod), volumes (package
// volume) and Events (package events).
//
// Declarations in the .proto files state structure, enums, bounds and required fields. This package
// has the rules across fields and versions of an object, and defaults that depend on other fields.
// Paths and messages are those of kube-apiserver, even odd ones, because tools match on them;
// comments mark each.
//
// Functions may change their object (Default, Prepare) or only read it (Validate), and never retain
// it. old is nil on create.
package core
