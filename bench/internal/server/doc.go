// Package server is what the bench measures: a Target, which is a server at an address with the
// processes whose cost counts, and the ways to get one.
//
//   - LoadTarget reads one from a kubeconfig.
//   - DaemonSpec starts a daemon from a binary, over a data directory of its own; a Daemon is the
//     running process, with an etcd of its own if that is wanted.
//   - KubernetesSpec starts a kube-apiserver with its etcd.
//   - StartFloor starts the floor: a bare fasthttp server in a child process that answers as many
//     bytes and does nothing else. No server on this stack can be cheaper.
//
// A Conn is one keep-alive connection to a target: HTTP/1.1 over TLS, written and read by hand so
// that the client costs little. An Identity is a CA and a token of the bench, for requests of plain
// users. Usage is what processes use, from /proc; Metrics what a server says of itself.
//
// Only processes that were started here are ever signalled.
package server
