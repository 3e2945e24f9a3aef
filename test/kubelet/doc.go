// Package kubelet simulates the scheduler and kubelets. It binds Pods to nodes, updates their
// status, and removes deleted Pods.
package kubelet
