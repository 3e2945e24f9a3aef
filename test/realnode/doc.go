// Package realnode runs real Kubernetes nodes on Troupe, on one Linux machine: kubelet, containerd,
// kube-proxy, the CNI plugins of Debian, and images from a registry of its own. It needs root.
//
//	sandbox   network, mount and process namespaces in which a command reexecutes itself. Its
//	          processes end with it, and no packet leaves it.
//	machine   a node: namespaces inside the sandbox, with a copy-on-write root
//	cluster   the API server, Kubernetes' controllers and scheduler, and the machines
//	program   a program of Kubernetes or containerd, built at the version that test/cluster pins
//	image     a container image, assembled from built programs and files of this machine
//	registry  a server with all images, from which the machines pull those of any registry
//
// A sandbox has one bridge with the address of the API server. Each machine is connected to it:
//
//	172.30.0.1      API server, kube-controller-manager, kube-scheduler, registry and the tests
//	172.30.0.2, 3   machines node-1, node-2
//	172.30.0.101…   API servers on etcd; then 172.30.0.1 is their load balancer
//	10.244.0.0/16   Pods, a /24 for each machine
//	10.96.0.0/16    Services
//
// Outside the sandbox, only the cgroups below troupe-PID and three kernel settings, which the
// kubelet changes, are affected. At the end, the cgroups are removed and the settings restored.
package realnode
