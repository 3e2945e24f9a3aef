// Package proxying asks the real daemon to pass requests on: to Services, Pods and Nodes by the verb proxy, and to
// containers by way of a kubelet, with the public clients. The kubelet is one of ours that speaks the API of kubelets by
// the public library of container runtimes, wants a client certificate, and runs commands on this machine.
package proxying
