// Command extension is an extension API server built on k8s.io/apiserver. It serves node and Pod
// metrics from memory. Unlike in metrics-server, clients can create and watch Pod metrics. The
// server delegates authentication and authorization to the daemon. It reads the front proxy's CAs
// from the ConfigMap extension-apiserver-authentication, and sends TokenReviews and
// SubjectAccessReviews.
//
// The server is a separate process, because it and the daemon register conflicting Protobuf
// extensions. It serves on the listener inherited as file descriptor 3, and first prints the CA of
// its certificate as PEM.
package main
