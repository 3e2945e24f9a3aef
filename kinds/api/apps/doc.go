// Package apps validates and defaults Deployments, ReplicaSets, StatefulSets and DaemonSets.
package apps
