// Package localcluster runs a whole cluster on one machine: the daemon, controllers and a scheduler, and nodes that are
// simulated (package simulation).
//
//	Options  what is to run
//	program  kube-controller-manager or kube-scheduler, as a process beside this one
//	Run      starts all of it in the order in which one needs the other, and stops it in the reverse order
//
// Controllers and the scheduler are the programs where there are some, else those that are built into the daemon. In the
// directory of a cluster are data, which is the data directory of the daemon, logs, of which each part has a file, and
// kubelet: between the daemon and the kubelet of the nodes both prove themselves by certificates of an authority that is
// made anew at each start.
package localcluster
