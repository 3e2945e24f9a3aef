// Package core validates and defaults the core group except for Pods (package pod), volumes
// (package volume) and Events (package events).
//
// The .proto files declare structure, options and most rules, including cross-field rules. This
// package implements the rules that declarations cannot express, and the defaults that depend on
// other fields. Field paths and error messages match kube-apiserver's, because tools match on them.
//
// Default and Prepare may change the object. Validate functions only read it. No function retains
// the object. old is nil on create.
package core
