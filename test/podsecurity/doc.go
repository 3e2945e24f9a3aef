// Package podsecurity compares policy/admission/podsecurity with the public implementation of Pod security
// admission: what each check says of random Pods and of its published fixtures, at each level and version, and
// what is decided on random writes of Namespaces, Pods and objects with Pod templates. The published suite runs
// against the daemon, over HTTP.
package podsecurity
