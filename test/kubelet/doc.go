// Package kubelet plays scheduler and kubelet for tests: it puts Pods on nodes, says that they run, are ready or have
// ended, and removes those that are to go.
package kubelet
