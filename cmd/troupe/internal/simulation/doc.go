// Package simulation plays the nodes of a cluster: it registers Nodes, renews their leases, and does for the Pods that are
// bound to them what a kubelet does, but that nothing runs.
//
//	Cluster      the nodes of one process, with one watch of Nodes and one of Pods for all of them
//	lifecycle    what becomes of a Pod next: a function of the Pod and the time
//	program      what a container does: by annotations, by its command where that is one of a few, else it runs for ever
//	queue        the Pods that are to be looked at, by time
//	kubelet      the HTTPS server that answers for the containers: logs, commands
//	provisioner  what makes volumes for claims of the class of the simulation, and deletes them
//
// Where a Pod is in its life is read from its status alone, as the API has it: a simulation that is killed goes on where it
// was. Nothing happens between two whole seconds, which is all that the API tells.
//
// Who owns what: registry holds the Pods and Nodes, under its lock, and is written by the two watches and by the workers,
// who put in the answer to what they have written; the newer version counts. A Pod is in the hands of one worker at a time.
package simulation
