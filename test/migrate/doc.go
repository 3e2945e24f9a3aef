// Package migrate moves states between data directories and etcd, and backs up both.
package migrate
