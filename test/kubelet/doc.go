// Package kubelet simulates the scheduler and the kubelet: it binds Pods to nodes, updates their
// status, and removes deleted ones.
package kubelet
