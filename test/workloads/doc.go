// Package workloads tests the controllers of workloads against a real daemon, with a kubelet that is simulated: it
// puts Pods on a node, lets them run, and removes those that are to go.
package workloads
