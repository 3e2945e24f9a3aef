// Package podplugins tests the admission of Pods by a running daemon: what new Pods get of their account,
// class, namespace and node, and what they are refused for. Every case says which plugin it is about.
package podplugins
