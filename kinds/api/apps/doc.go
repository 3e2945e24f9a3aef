// Package apps holds the rules of Deployments, ReplicaSets, StatefulSets and DaemonSets.
package apps
