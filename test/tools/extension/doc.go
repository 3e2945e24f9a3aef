// Command extension is an extension API server built on k8s.io/apiserver. It serves node and Pod
// metrics from memory, and delegates authentication and authorization to the daemon: it reads the
// front proxy's CAs from the ConfigMap, and sends a TokenReview or SubjectAccessReview. Unlike
// those of metrics-server, its Pod metrics can be created and watched.
//
// It is a separate process, because it and the daemon register conflicting Protobuf extensions. It
// serves on the listener inherited as file descriptor 3, and first prints the CA of its certificate
// as PEM.
package main
