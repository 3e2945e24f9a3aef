// Package core holds the rules of the core group but for Pods (package pod), volumes (package
// volume) and events (package events).
package core
