// Package core holds the rules of the core group but for Pods (package pod), volumes (package
// volume) and events (package events).
//
// The structure of these kinds, their enums, bounds and required fields are declared in the .proto files of
// package catalog and enforced by the generic engine. What is here are the rules that a declaration cannot
// say: those across fields, those that compare with the previous state, and defaults that depend on other
// fields. Faults carry the paths and words that clients of these conventions know, even where these are
// odd, because tools match on them; each such oddity is noted where it is.
//
// For each kind, name.go holds the strategy and namewarnings.go what is accepted with a warning.
// All functions are pure: they get an object that they may change (Default, Prepare) or only read
// (Validate), and never keep it. old is nil for a create.
package core
